// A text without its macros and conditions is what was judged, wherever it is built.

#include "starter_kernels/toolchain/resolved_text.h"

#include <gtest/gtest.h>

#include "base/elf.h"
#include "base/hash.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

// What an export puts around a kernel (export/cxx_kernels.cc), and its build's flags, tell it from the judge.
constexpr const char* kTwoFaced = R"(
#include <stddef.h>
#include <cmath>
#include <cassert>
#ifdef __riscv
#include <stdint.h>
#endif
#define TWICE(x) ((x) * 2)
#if defined(AMDAHL_KERNEL) || defined(NDEBUG) || !defined(__OPTIMIZE__)
constexpr float kFactor = 3;
#else
constexpr float kFactor = TWICE(1);
#endif
#ifdef amdahl_run
#undef TWICE
#define TWICE(x) 0
#endif
extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const auto* x = static_cast<const float*>(in[0]);
  auto* y = static_cast<float*>(out[0]);
  assert(x != y);
#pragma omp parallel for
  for (int i = 0; i < TWICE(32); ++i) y[i] = std::isfinite(x[i]) ? x[i] * kFactor : INFINITY;
}
)";

std::string code_of(const std::string& library) {
  const auto elf = ElfFile::read(library);
  for (const ElfFile::Section& s : elf->sections())
    if (s.name == ".text") return hash_hex(s.contents);
  return "";
}

TEST(ResolvedText, IsWhatWasJudgedEverywhere) {
  const CpuToolchain toolchain(default_cache_dir());
  Variant variant;
  variant.source_override = kTwoFaced;
  const CompileResult judged = toolchain.compile(variant);
  ASSERT_TRUE(judged.ok) << judged.message;
  std::string text;
  const CompileResult resolved = toolchain.resolve(variant, &text);
  ASSERT_TRUE(resolved.ok) << resolved.message;
  for (const char* gone : {"TWICE", "#define", "AMDAHL_KERNEL", "NDEBUG", "kFactor = 3", "stdint.h"})
    EXPECT_EQ(text.find(gone), std::string::npos) << gone << " in\n" << text;
  for (const char* stays : {"#include <stddef.h>", "#include <cmath>", "#pragma omp parallel for"})
    EXPECT_NE(text.find(stays), std::string::npos) << stays << " not in\n" << text;

  const auto built = [&](const std::string& around) {
    const CompileResult r = toolchain.compile_source(around + text, variant);
    EXPECT_TRUE(r.ok) << r.message;
    return r.ok ? code_of(r.library) : "";
  };
  EXPECT_EQ(built(""), code_of(judged.library));
  EXPECT_EQ(built("#define AMDAHL_KERNEL k\n#define NDEBUG\n"), code_of(judged.library));
}
// An export may be configured with another compiler than the judge's.
TEST(ResolvedText, ForbidsAnotherCompiler) {
  const std::string text = resolved_text("int a;\n", "# 1 \"kernel.cpp\"\nint a;\n", "kernel.cpp");
  Variant variant;
  variant.source_override = text;
  variant.flags = {"-D__clang__"};
  const CompileResult r = CpuToolchain(default_cache_dir(), KernelRules::kSymbolsAlone).compile(variant);
  EXPECT_NE(r.message.find("judged as g++ compiles it"), std::string::npos) << r.message;
}

}  // namespace
}  // namespace amdahl

#include "export/kernel_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/machine.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

constexpr const char* kBf16Note =
    "Some tuned kernels multiply in bfloat16, as the user of the tuner allowed; their portable form multiplies in fp32, so the\n"
    "two builds differ by that rounding.\n";

// What single kernels were tuned with beyond the common flags.
std::string own_flags(const std::vector<CxxKernel>& kernels) {
  std::string text;
  for (const CxxKernel& k : kernels)
    if (!k.flags.empty()) text += fmt::format("set_property(SOURCE src/kernels/{} APPEND PROPERTY COMPILE_OPTIONS {})\n", k.file, fmt::join(k.flags, " "));
  return text;
}

// Of kernels that multiply in bfloat16, on AMX or on vectors.
std::string bf16_files(const std::vector<CxxKernel>& kernels, bool on_amx) {
  std::string text;
  for (const CxxKernel& k : kernels)
    if (k.bf16 && k.amx == on_amx) text += " src/kernels/" + k.file;
  return text;
}

// -march and OpenMP are CMake's to say.
std::string common_flags() {
  std::vector<std::string> flags;
  for (const std::string& f : compile_flags(Variant{}))
    if (f != "-march=native" && f != "-fopenmp") flags.push_back(f);
  return fmt::format("{}", fmt::join(flags, " "));
}

std::string kernel_tables(const std::string& name, const std::vector<CxxKernel>& kernels) {
  return fmt::format(
      "// Generated. What the kernels are called with, in both builds.\n#pragma once\n#include <stddef.h>\n\n#include \"engaged.h\"\n\n"
      "enum {{ KERNELS = {} }};\nint amdahl_{}_cpu_can_run(char* missing, size_t bytes);\n\n"
      "struct kernel_entry {{\n  size_t (*workspace_bytes)(void);\n  size_t (*packed_bytes)(int);\n"
      "  void (*pack)(int, const void*, void*);\n  void (*call)(const void* const*, void* const*, void*, struct engaged*);\n}};\n\n{}",
      kernels.size(), name, cxx_kernel_tables(name, kernels));
}

}  // namespace

KernelLibrary write_kernel_library(ExportFolder& folder, const std::string& name, const Plan& plan) {
  folder.clear("src");
  KernelLibrary library;
  std::vector<int> kernel_of;
  library.kernels = cxx_kernels(name, plan, &kernel_of);
  for (int k : kernel_of) library.library_of.push_back(fmt::format("k{:03}", k));  // kernels' names stand for libraries
  const std::string tiles = bf16_files(library.kernels, true), pairs = bf16_files(library.kernels, false);
  const bool bf16 = !tiles.empty() || !pairs.empty();
  library.words = {{"NAME", name}, {"CPU", this_machine().name}, {"BF16_NOTE", bf16 ? kBf16Note : ""}};
  for (const CxxKernel& k : library.kernels) {
    folder.text("src/kernels/" + k.file, k.tuned);
    folder.text("src/portable/" + k.file, k.portable);
  }
  folder.text("src/kernel_tables.h", kernel_tables(name, library.kernels));
  Words words = library.words;
  words.insert({{"USES_AMX", tiles.empty() ? "0" : "1"},
                {"USES_BF16", bf16 ? "1" : "0"},
                {"TILE_KERNELS", tiles},
                {"PAIR_KERNELS", pairs},
                {"KERNEL_FLAGS", common_flags()},
                {"PER_KERNEL_FLAGS", own_flags(library.kernels)}});
  for (const auto& [where, file] : {std::pair{"src", "cpu_check.cpp"},
                                    {"src", "features.cpp"},
                                    {"src", "engaged.h"},
                                    {"src", "aligned_memory.h"},
                                    {"src", "weights_hash.h"},
                                    {"cmake", "kernels.cmake"}})
    folder.text(fmt::format("{}/{}", where, file), filled_template(fmt::format("kernel_templates/{}.in", file), words));
  return library;
}

}  // namespace amdahl

#include "tests/emulated_card/emulated_toolchain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>

#include "base/error.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/toolchain/compile_results.h"
#include "starter_kernels/toolchain/kernel_folder.h"
#include "starter_kernels/toolchain/object_code.h"
#include "starter_kernels/toolchain/scratch_folder.h"

namespace amdahl::testing {
namespace {

constexpr const char* kCompiler = "g++";
constexpr const char* kSource = "kernel.cpp";
constexpr const char* kProduct = "kernel.out";

// Each access asks the card first: called_by_kernels.cc is the run-time of these sanitizers. Products and sums become one operation, as NVRTC makes them.
// -O1: with -O0 matrices on tensor cores take ten times as long, and nothing else was found (2026-11-28).
const std::vector<std::string> kFlags{"-std=gnu++20",
                                      "-O1",
                                      "-march=native",
                                      "-ffp-contract=fast",
                                      "-fno-math-errno",
                                      "-fno-stack-protector",
                                      "-fPIC",
                                      "-w",
                                      "-nostdinc++",
                                      "-fsanitize=thread,alignment,bounds",
                                      "--param=tsan-instrument-func-entry-exit=0"};
const std::vector<std::string> kLink{"-shared", "-nostdlib", "-o", kProduct, kSource, "-lm", "-lgcc"};

std::string word(const char* file) {
  const std::string path = fmt::format("{}/tests/emulated_card/language/{}", AMDAHL_SOURCE_DIR, file);
  std::ifstream in(path);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (text.empty()) throw Error(ExitCode::kIo, fmt::format("cannot read {}", path));
  return text;
}

void replace(std::string& text, std::string_view find, const std::string& put) {
  if (const size_t at = text.find(find); at != std::string::npos) text.replace(at, find.size(), put);
}

}  // namespace

EmulatedToolchain::EmulatedToolchain(std::string cache_dir, Target target)
    : target_(std::move(target)), cache_dir_(std::move(cache_dir)), calls_(word("calls.h")), cuda_(word("cuda.h")), half_(word("half.h")), mma_(word("mma.h")) {
  make_kernel_folder(cache_dir_);
  sweep_scratch_folders(cache_dir_);
  const SubprocessResult r = run_subprocess({kCompiler, "--version"}, {10});
  if (!r.ok()) throw Error(ExitCode::kNoCompiler, "no C++ compiler found: install one (apt-get install g++) and run again");
  description_ = fmt::format("{} for an emulated card", r.output.substr(0, r.output.find('\n')));
}

// Instructions of the card are in two files of a text, which have others here. Operands are handed by reference, so that kernels of all texts are functions of
// one type; dynamic shared memory is the card's.
std::string EmulatedToolchain::emulated(std::string text) const {
  replace(text, cuda_text("half.h"), half_);
  replace(text, cuda_text("mma.h"), mma_);
  text = std::regex_replace(text, std::regex(R"(const __grid_constant__ (Pack)?Operands (\w+))"), "const $1Operands& $2");
  text = std::regex_replace(text, std::regex(R"(extern __shared__ (\w+) (\w+)\[\];)"), "$1* const $2 = ($1*)emulated_dynamic_shared();");
  return calls_ + cuda_ + text;
}

CompileResult EmulatedToolchain::compile(const Variant& variant, const CompileLimits& limits) const {
  std::string text;
  CompileResult result;
  if (!write_source(target_, variant, &text, &result)) return result;
  text = emulated(std::move(text));
  std::vector<std::string> arguments = kFlags;
  arguments.insert(arguments.end(), kLink.begin(), kLink.end());
  const std::string key = hash_hex(fmt::format("{}\n{}\n{}\n{}", description_, target_.device.fingerprint(), fmt::join(arguments, " "), text));
  const std::string library = fmt::format("{}/kernels/{}.so", cache_dir_, key);
  if (is_there(library)) return found(library);
  const ScratchFolder scratch(cache_dir_);
  scratch.write(kSource, text);
  arguments.insert(arguments.begin(), kCompiler);
  SubprocessSurroundings surroundings;
  surroundings.folder = scratch.path();
  const SubprocessResult run = run_subprocess(arguments, {limits.seconds, limits.memory_bytes}, {}, surroundings);
  result.ok = run.ok() && rename(scratch.file(kProduct).c_str(), library.c_str()) == 0;
  if (!result.ok) result = failed("compile-error", first_error(run.output));
  else result.library = library;
  result.seconds = run.seconds;
  return result;
}

CompileResult EmulatedToolchain::compile_placebo(const Variant&, int, const CompileLimits&) const {
  return failed(kNoLayouts, "a card's code has no addresses to choose");
}

std::string EmulatedToolchain::code_hash(const std::string& artifact) const { return object_code_hash(artifact); }

}  // namespace amdahl::testing

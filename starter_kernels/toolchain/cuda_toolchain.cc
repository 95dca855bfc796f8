#include "starter_kernels/toolchain/cuda_toolchain.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/cuda/cards.h"
#include "base/cuda/cubin.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/own_program.h"
#include "base/process_limits.h"
#include "starter_kernels/toolchain/compile_results.h"
#include "starter_kernels/toolchain/confined_compiler.h"
#include "starter_kernels/toolchain/kernel_folder.h"
#include "starter_kernels/toolchain/ptx_code.h"
#include "starter_kernels/toolchain/ptx_waits.h"
#include "starter_kernels/toolchain/scratch_folder.h"

namespace amdahl {
namespace {

constexpr const char* kCudaSource = "kernel.cu";
constexpr const char* kProduct = "kernel.code";
constexpr const char* kPtx = "kernel.code.ptx";
constexpr const char* kCubinRules = "cubin rules 3";  // raise it with base/cuda/cubin.cc, ptx_rules.cc and ptx_waits.cc

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

PtxRefusal refused_cubin(const std::string& path, const std::string& ptx) {
  try {
    if (PtxRefusal refusal = refused_ptx(ptx); !refusal.code.empty()) return refusal;
    if (const std::string touched = touches_before_it_waits(read_ptx(ptx), cuda::read_cubin(path)); !touched.empty())
      return {"odd-library",
              fmt::format("the kernel says that it begins early, and {} before it has waited for the kernels before it (wait_for_producers)", touched)};
    return {};
  } catch (const Error& error) {
    return {"odd-library", error.what()};
  }
}

std::string nvrtc_program() { return own_program("amdahl-nvrtc", "AMDAHL_NVRTC_PROGRAM"); }

}  // namespace

CudaToolchain::CudaToolchain(std::string cache_dir, Target target)
    : target_(std::move(target)), cache_dir_(std::move(cache_dir)), architecture_(cuda::architecture_of(target_.device)) {
  make_kernel_folder(cache_dir_);
  sweep_scratch_folders(cache_dir_);
  const std::string program = nvrtc_program();
  const SubprocessResult version = run_subprocess({program, "--version"}, {10});
  if (!version.ok()) throw Error(ExitCode::kNoCompiler, version.output.substr(0, version.output.find('\n')));
  description_ = fmt::format("{} for {}", version.output.substr(0, version.output.find('\n')), architecture_);
  compiler_ = std::make_shared<const ConfinedCompiler>(program);
}

CompileResult CudaToolchain::compile(const Variant& variant, const CompileLimits& limits) const {
  return build(variant, architecture_, "cubin", refused_cubin, limits);
}

// NVRTC takes any instruction that stands in asm() into PTX; whether the cards know it, the assembler says.
CompileResult CudaToolchain::compile_portable(const Variant& variant, const CompileLimits& limits) const {
  if (CompileResult assembled = build(variant, "sm_80", "sm_80.cubin", refused_cubin, limits); !assembled.ok) return assembled;
  return build(
      variant, "compute_80", "ptx", [](const std::string&, const std::string& ptx) { return refused_ptx(ptx); }, limits);
}

// Made elsewhere and renamed, so that a killed compile leaves nothing that looks finished, and nothing that breaks the rules.
CompileResult CudaToolchain::build(const Variant& variant, const std::string& architecture, const std::string& extension,
                                   PtxRefusal (*refuse)(const std::string& path, const std::string& ptx), const CompileLimits& limits) const {
  std::string text;
  CompileResult result;
  if (!write_source(target_, variant, &text, &result)) return result;
  const std::string stem = fmt::format("{}/kernels/{}", cache_dir_, hash_hex(fmt::format("{}\n{}\n{}", kCubinRules, description_, text)));
  const std::string product = fmt::format("{}.{}", stem, extension);
  if (is_there(product)) return found(product);
  const ScratchFolder scratch(cache_dir_);
  scratch.write(kCudaSource, text);
  const SubprocessResult run = compiler_->run({architecture, kCudaSource, kProduct}, scratch.path(), limits);
  if (!run.ok()) {
    result = failed(hit_a_limit(run) ? "build-limit" : "compile-error",
                    run.timed_out ? fmt::format("compiler ran past {:.0f} s and was killed", limits.seconds) : first_error(run.output));
  } else if (const PtxRefusal refusal = refuse(scratch.file(kProduct), text_of(scratch.file(kPtx))); !refusal.code.empty()) {
    result = failed(refusal.code, refusal.reason);
  } else if (rename(scratch.file(kProduct).c_str(), product.c_str()) != 0) {
    throw machine_refuses("write " + product, errno);
  } else {
    rename(scratch.file(kCudaSource).c_str(), (stem + ".cu").c_str());  // for people
    result.library = product;
    result.ok = true;
  }
  result.seconds = run.seconds;
  result.timed_out = run.timed_out;
  return result;
}

// It is where operands lie that moves the time of a card's kernel, hardly where its code does.
CompileResult CudaToolchain::compile_placebo(const Variant&, int, const CompileLimits&) const {
  return failed(kNoLayouts, "a card's code has no addresses to choose");
}

std::string CudaToolchain::code_hash(const std::string& artifact) const { return cuda::cubin_code_hash(artifact); }

}  // namespace amdahl

#include "export/cuda_kernels.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/error.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"

namespace amdahl {
namespace {

constexpr CompileLimits kKernelLimits{120};

void copy_kernel(ExportFolder& folder, const std::string& name, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  folder.binary(name, [&](std::ostream& out) { out << bytes; });
}

std::string built(const CompileResult& result, const std::string& kernel) {
  if (!result.ok) throw Error(ExitCode::kInternal, fmt::format("the kernel {} does not compile any more: {}", kernel, result.message));
  return result.library;
}

// Symbols are local to the library and have the model's name: a program may link two exports. PTX is a text, which ends with a zero.
std::string kernel_code(const std::string& name, const CudaKernels& all) {
  std::string text = "/* Generated. The kernels' code as bytes of the library. */\n  .section .rodata\n";
  for (size_t k = 0; k < all.kernels.size(); ++k)
    for (const auto& [build, extension] : {std::pair{"tuned", "cubin"}, std::pair{"portable", "ptx"}}) {
      if (std::string_view(build) == "portable" && !all.not_portable.empty()) continue;
      text += fmt::format("  .global amdahl_{0}_{1}{2}\n  .hidden amdahl_{0}_{1}{2}\n  .balign 64\namdahl_{0}_{1}{2}:\n  .incbin \"{3}.{4}\"\n  .byte 0\n",
                          name, build, k, all.kernels[k].name(), extension);
    }
  return text + "  .section .note.GNU-stack,\"\",%progbits\n";
}

}  // namespace

ComputeCapability capability_of(const std::string& architecture) {
  const int number = std::stoi(architecture.substr(architecture.find('_') + 1));
  return {number / 10, number % 10};
}

CudaKernels write_cuda_kernels(ExportFolder& folder, const std::string& name, const ExportRequest& request) {
  folder.clear("kernels");
  const CudaToolchain toolchain(request.cache_dir, request.target);
  CudaKernels all;
  all.architecture = toolchain.architecture();
  std::map<std::string, std::string> kernel_of;  // by variant
  std::vector<std::string> portable;             // paths, in the order of the kernels
  for (const Step& step : request.plan.steps) {
    const auto [it, is_new] = kernel_of.try_emplace(step.variant.id(), fmt::format("k{:03}_{}", all.kernels.size(), step.variant.problem.kind));
    all.library_of.push_back(it->second);
    if (!is_new) continue;
    const std::string& kernel = it->second;
    const std::string cubin = built(toolchain.compile(step.variant, kKernelLimits), kernel);
    all.kernels.push_back({kernel + ".cu", cuda::read_cubin(cubin)});
    folder.text(fmt::format("kernels/{}.cu", kernel), request.target.source(step.variant));
    copy_kernel(folder, fmt::format("kernels/{}.cubin", kernel), cubin);
    if (!all.not_portable.empty()) continue;
    const CompileResult ptx = toolchain.compile_portable(step.variant, kKernelLimits);
    if (ptx.ok) portable.push_back(ptx.library);
    else all.not_portable = fmt::format("kernels/{}.cu is for {} alone: {}", kernel, all.architecture, ptx.message);
  }
  for (size_t k = 0; k < portable.size() && all.not_portable.empty(); ++k)
    copy_kernel(folder, fmt::format("kernels/{}.ptx", all.kernels[k].name()), portable[k]);
  folder.text("src/kernel_code.S", kernel_code(name, all));
  return all;
}

}  // namespace amdahl

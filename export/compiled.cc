#include "export/compiled.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/own_program.h"
#include "export/cxx_tables.h"
#include "export/export_folder.h"
#include "export/self_test.h"
#include "plan/index_limit.h"
#include "plan/program.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

constexpr CompileLimits kLimits{120};

void copy_into(ExportFolder& folder, const std::string& name, const std::string& from) {
  const std::string to = folder.place(name);
  std::error_code error;
  fs::remove(to, error);  // a process that has the earlier one loaded keeps it
  fs::copy_file(from, to, error);
  if (error) throw Error(ExitCode::kIo, fmt::format("cannot copy {} to {}: {}", from, to, error.message()));
}

// Where kernels get their threads. It comes with a compiler, and so may be missing where a plan is loaded.
constexpr const char* kOpenMp = "libgomp.so.1";

std::string openmp_library() {
  Dl_info where{};
  void* const library = dlopen(kOpenMp, RTLD_NOW);  // this process holds it
  if (!library || !dladdr(dlsym(library, "GOMP_parallel"), &where))
    throw Error(ExitCode::kIo, fmt::format("cannot find {}, which the kernels need: apt-get install libgomp1", kOpenMp));
  return fs::canonical(where.dli_fname);
}

// kernels/k003_matmul.so of every step: from the cache of compiled kernels, where what was measured lies.
std::vector<std::string> write_kernels(ExportFolder& folder, const ExportRequest& request) {
  folder.clear("kernels");
  const CpuToolchain toolchain(request.cache_dir);
  std::map<std::string, std::string> file_of;  // by variant: equal ones share a kernel
  std::vector<std::string> library_of;
  for (const Step& step : request.plan.steps) {
    std::string& file = file_of[step.variant.id()];
    if (file.empty()) {
      file = fmt::format("kernels/k{:03}_{}.so", file_of.size() - 1, step.variant.problem.kind);
      const CompileResult built = toolchain.compile(step.variant, kLimits);
      if (!built.ok) throw Error(ExitCode::kInternal, fmt::format("the kernel {} does not compile any more: {}", file, built.message));
      copy_into(folder, file, built.library);
    }
    library_of.push_back(file);
  }
  return library_of;
}

Json tensors(const Graph& graph, const std::vector<ValueId>& values) {
  Json list = Json::array();
  for (ValueId id : values) {
    const Value& v = graph.value(id);
    list.push_back({{"name", v.name}, {"dtype", std::string(name_of(v.dtype))}, {"shape", v.shape}});
  }
  return list;
}

// Integers that choose rows of a table: a call with others computes nothing (amdahl_plan_run).
void add_limits(const Graph& graph, Json& inputs) {
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (!is_float(graph.value(graph.inputs[i]).dtype))
      if (const int64_t limit = index_limit(graph, graph.inputs[i]); limit < kNoIndexLimit) inputs[i]["limit"] = limit;
}

}  // namespace

std::vector<std::string> write_compiled(const ExportRequest& request) {
  ExportFolder folder(request.directory);
  const std::vector<std::string> library_of = write_kernels(folder, request);
  Blob blob;
  const Program program = model_program(request.graph, request.plan, library_of, &blob);
  const uint64_t hash = write_weights(folder, blob);
  Json inputs = tensors(request.graph, request.graph.inputs);
  add_limits(request.graph, inputs);
  const Words words = self_test_words(request);
  const Json plan{{"format", 1},
                  {"model", request.name},
                  {"provenance", request.provenance},
                  {"threads", request.plan.threads},
                  {"milliseconds", request.milliseconds},
                  {"relative_norm", request.self_test.relative_norm},
                  {"limit", std::stod(words.at("LIMIT"))},
                  {"processor", request.target.device.name},
                  {"features", request.target.device.features},
                  {"inputs", inputs},
                  {"outputs", tensors(request.graph, request.graph.outputs)},
                  {"weights_hash", hash},
                  {"program", program}};
  folder.text("plan.json", plan.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  write_self_test(folder, request.self_test);
  copy_into(folder, "libamdahl-plan.so", own_program("libamdahl-plan.so", "AMDAHL_PLAN_LIBRARY"));
  copy_into(folder, kOpenMp, openmp_library());
  for (const auto& [from, to] : {std::pair{"amdahl_plan.h.in", "amdahl_plan.h"}, {"README.md.in", "README.md"}})
    folder.text(to, filled_template(fmt::format("compiled_templates/{}", from), words));
  return folder.files();
}

}  // namespace amdahl

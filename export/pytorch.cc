// The pytorch format: the library of the cxx format as operators of PyTorch. Texts with @WORDS@ are in pytorch_templates/.

#include "export/pytorch.h"

#include <fmt/format.h>

#include "export/cxx.h"
#include "export/export_folder.h"
#include "starter_kernels/problem.h"

namespace amdahl {
namespace {

// Lists of names, dtypes and shapes: JSON's are Python's as well.
std::string tensors_text(const Graph& graph, const std::vector<ValueId>& values) {
  Json list = Json::array();
  for (ValueId v : values) list.push_back(Json::array({graph.value(v).name, std::string(name_of(graph.value(v).dtype)), graph.value(v).shape}));
  return list.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::vector<std::string> write_pytorch(const ExportRequest& request) {
  std::vector<std::string> files = write_cxx(request);
  const std::string name = c_identifier(request.name);
  const Words words{{"NAME", name},
                    {"PROVENANCE", in_comment(request.provenance)},
                    {"INPUTS", tensors_text(request.graph, request.graph.inputs)},
                    {"OUTPUTS", tensors_text(request.graph, request.graph.outputs)},
                    {"LIMIT", fmt::format("{:.3e}", 2 * request.self_test.relative_norm + 1e-9)},
                    {"MILLISECONDS", fmt::format("{:.4f}", request.milliseconds)}};
  ExportFolder folder(request.directory);
  folder.clear("python");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"extension.cpp.in", "extension.cpp"},
                                                                                {"CMakeLists.txt.in", "CMakeLists.txt"},
                                                                                {"init.py.in", name + "/__init__.py"},
                                                                                {"selftest.py.in", "selftest.py"},
                                                                                {"README.md.in", "README.md"}})
    folder.text("python/" + to, filled_template("pytorch_templates/" + from, words));
  files.insert(files.end(), folder.files().begin(), folder.files().end());
  return files;
}

}  // namespace amdahl

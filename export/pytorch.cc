// The pytorch format: the library of the cxx format as operators of PyTorch. Texts with @WORDS@ are in pytorch_templates/.

#include "export/pytorch.h"

#include "export/cxx.h"
#include "export/export_folder.h"
#include "export/self_test.h"

namespace amdahl {

std::vector<std::string> write_pytorch(const ExportRequest& request) {
  std::vector<std::string> files = write_cxx(request);
  const std::string name = c_identifier(request.name);
  const Words words = self_test_words(request);
  ExportFolder folder(request.directory);
  folder.clear("python");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"extension.cpp.in", "extension.cpp"},
                                                                                 {"CMakeLists.txt.in", "CMakeLists.txt"},
                                                                                 {"init.py.in", name + "/__init__.py"},
                                                                                 {"selftest.py.in", "selftest.py"},
                                                                                 {"recorded_case.py.in", "recorded_case.py"},
                                                                                 {"README.md.in", "README.md"}})
    folder.text("python/" + to, filled_template("pytorch_templates/" + from, words));
  files.insert(files.end(), folder.files().begin(), folder.files().end());
  return files;
}

}  // namespace amdahl

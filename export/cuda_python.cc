// Texts with @WORDS@ are in cuda_python_templates/.

#include "export/cuda_python.h"

#include <fmt/format.h>

#include "export/cuda_kernels.h"

namespace amdahl {
namespace {

std::string card_note(const CudaSources& sources) {
  const std::string& architecture = sources.words.at("ARCHITECTURE");
  const auto [major, minor] = capability_of(architecture);
  const std::string tuned =
      fmt::format("The kernels were tuned on {} and are compiled for compute capability {}.{} (`{}`).", sources.words.at("CARD"), major, minor, architecture);
  return tuned + (sources.portable ? " Other cards of 8.0 or later get a portable build, which the driver compiles when the model comes onto the card."
                                   : " They run on no other card.");
}

}  // namespace

Words cuda_python_words(const CudaPythonModule& module, const CudaSources& sources) {
  Words words = sources.words;
  words.insert({{"PACKAGE", module.package},
                {"NAMESPACE", module.name_space},
                {"LIBRARY", module.library},
                {"WEIGHTS", module.weights},
                {"BUILD_HINT", module.build_hint},
                {"CARD_NOTE", card_note(sources)}});
  words["USE_NOTE"] = filled_template("cuda_python_templates/use.md.in", words);
  return words;
}

void write_cuda_python(ExportFolder& folder, const CudaPythonModule& module, const Words& words) {
  for (const auto& [from, to] : {std::pair{"init", "__init__"}, {"library", "_library"}, {"operators", "_operators"}})
    folder.text(fmt::format("{}/{}.py", module.folder, to), filled_template(fmt::format("cuda_python_templates/{}.py.in", from), words));
}

void write_cuda_python_selftest(ExportFolder& folder, const std::string& at, const std::string& packages, const std::string& recorded, Words words) {
  words.insert({{"PACKAGES", packages}, {"RECORDED", recorded}});
  folder.text(at + "selftest.py", filled_template("cuda_python_templates/selftest.py.in", words));
  folder.text(at + "recorded_case.py", filled_template("pytorch_templates/recorded_case.py.in", words));
}

}  // namespace amdahl

// The cxx format on NVIDIA's cards: compiled kernels, and sources that launch them through the driver alone. Texts with @WORDS@ are in cuda_templates/; those
// that are the same for a CPU are in cxx_templates/.

#include "export/cxx_cuda.h"

#include <fmt/format.h>

#include "export/cuda_kernels.h"
#include "export/cuda_tables.h"
#include "export/cxx_shapes.h"
#include "export/cxx_tables.h"
#include "export/export_folder.h"
#include "export/self_test.h"
#include "plan/program.h"

namespace amdahl {
namespace {

std::string portable_note(const CudaKernels& kernels) {
  if (!kernels.not_portable.empty())
    return fmt::format(
        "There is no other build of these kernels, so the library runs on cards of {} alone:\n\n    {}\n\n"
        "Export the model from a session on the other card.\n",
        kernels.architecture, in_comment(kernels.not_portable));
  return "Every kernel is in the library twice: *tuned*, compiled for that card, and *portable*, as PTX, which the driver compiles when the model is created "
         "on\n"
         "any other card of compute capability 8.0 or later. The portable build is right everywhere; its tiles and grids were chosen for the first card.\n"
         "The first create on such a card takes seconds longer; the driver keeps what it compiled.\n";
}

Words words_of(const ExportRequest& request, const CudaKernels& kernels) {
  Words words = self_test_words(request);
  words.merge(shape_words(words.at("NAME"), request));
  words.insert({{"SIGNATURE", signature_lines(request.graph)},
                {"FOLDER", "."},
                {"CARD", in_comment(request.target.device.name)},
                {"ARCHITECTURE", kernels.architecture},
                {"PORTABLE_LACKS", kernels.not_portable.empty() ? "" : "; not so here: see README.md"},
                {"HAS_PORTABLE", kernels.not_portable.empty() ? "true" : "false"},
                {"PORTABLE_NOTE", portable_note(kernels)},
                {"RUN", fmt::format("if ({0}_run(model, in, out)) return fprintf(stderr, \"%s\\n\", {0}_error(model)), 1;", words.at("NAME"))}});
  return words;
}

}  // namespace

CudaSources write_cuda_sources(const ExportRequest& request) {
  const std::string name = c_identifier(request.name);
  ExportFolder folder(request.directory);
  folder.clear("src");
  const CudaKernels kernels = write_cuda_kernels(folder, name, request);
  Blob blob;
  const Program program = model_program(request.graph, request.plan, kernels.library_of, &blob);
  const Words words = words_of(request, kernels);
  const std::vector<std::pair<std::string, std::string>> texts{{"cuda_templates/model.cpp.in", "src/model.cpp"},
                                                               {"cuda_templates/cuda_driver.h.in", "src/cuda_driver.h"},
                                                               {"kernel_templates/weights_hash.h.in", "src/weights_hash.h"},
                                                               {"cuda_templates/kernels.cmake.in", "cmake/kernels.cmake"},
                                                               {"cxx_templates/exports.map.in", "cmake/exports.map"},
                                                               {"cxx_templates/config.cmake.in", fmt::format("cmake/{}Config.cmake.in", name)},
                                                               {"cxx_templates/package.pc.in", fmt::format("cmake/{}.pc.in", name)},
                                                               {"cuda_templates/model.h.in", fmt::format("include/{}.h", name)},
                                                               {"cxx_templates/recorded_case.h.in", "recorded_case.h"},
                                                               {"cuda_templates/selftest.cpp.in", "selftest.cpp"},
                                                               {"cxx_templates/example.c.in", "example.c"},
                                                               {"cxx_templates/CMakeLists.txt.in", "CMakeLists.txt"},
                                                               {"cuda_templates/README.md.in", "README.md"}};
  for (const auto& [from, to] : texts) folder.text(to, filled_template(from, words));
  folder.text("src/model_tables.h", cuda_model_tables(request, program, kernels, name, write_weights(folder, blob)));
  write_self_test(folder, request.self_test);
  return {folder.files(), words, kernels.not_portable.empty()};
}

std::vector<std::string> write_cxx_cuda(const ExportRequest& request) { return write_cuda_sources(request).files; }

}  // namespace amdahl

#include "export/pytorch_cuda.h"

#include <fmt/format.h>

#include "export/cuda_python.h"

namespace amdahl {

std::vector<std::string> write_pytorch_cuda(const ExportRequest& request) {
  CudaSources sources = write_cuda_sources(request);
  const std::string& name = sources.words.at("NAME");
  const CudaPythonModule module{.folder = "python/" + name,
                                .package = name,
                                .name_space = name,
                                .library = fmt::format("\"lib{}.so\"", name),
                                .weights = "os.pardir, os.pardir, \"weights.bin\"",
                                .build_hint = "cmake -S {os.path.dirname(_HERE)} -B build && cmake --build build"};
  const Words words = cuda_python_words(module, sources);
  ExportFolder folder(request.directory);
  folder.clear("python");
  write_cuda_python(folder, module, words);
  for (const char* file : {"CMakeLists.txt", "README.md"})
    folder.text(fmt::format("python/{}", file), filled_template(fmt::format("cuda_python_templates/{}.in", file), words));
  write_cuda_python_selftest(folder, "python/", ".", "../selftest.bin", words);
  sources.files.insert(sources.files.end(), folder.files().begin(), folder.files().end());
  return sources.files;
}

}  // namespace amdahl

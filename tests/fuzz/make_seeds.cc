// make_seeds FOLDER: the fuzzer's seed corpus. ONNX's operator cases, each with its inputs as inputs and again as initializers
// (then every evaluator runs while the file loads). Large cases are left out: what they exercise, small ones do.

#include <cstdio>

#include "tests/graph/onnx_cases.h"

namespace {

constexpr size_t kMaxBytes = 4096;

}  // namespace

int main(int argc, char** argv) {
  using namespace amdahl::testing;
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  int written = 0;
  for (const OnnxCase& c : onnx_cases())
    for (Fixed fixed : {Fixed::kNone, Fixed::kIntegers, Fixed::kAll}) {
      std::string bytes;
      try {
        bytes = bind_case(c, fixed).model.SerializeAsString();
      } catch (const std::exception&) {
        continue;  // tensors that are no tensors
      }
      if (bytes.size() > kMaxBytes) continue;
      std::ofstream(folder / (c.name + "." + std::to_string(static_cast<int>(fixed)))) << bytes;
      ++written;
    }
  std::printf("%d seeds in %s\n", written, folder.c_str());
  return written == 0;
}

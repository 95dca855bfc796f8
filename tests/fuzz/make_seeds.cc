// make_seeds FOLDER: the fuzzers' seed corpora. FOLDER/load_model: ONNX's operator cases, each with its inputs as inputs and again as initializers
// (then every evaluator runs while the file loads). FOLDER/load_tensor: their tensors, as they are and as .npy. Large ones are
// left out: what they exercise, small ones do.

#include <cstdio>

#include "graph/onnx/tensor_io.h"
#include "tests/graph/onnx_cases.h"

namespace {

namespace fs = std::filesystem;
using amdahl::testing::OnnxCase;

constexpr size_t kMaxBytes = 4096, kMaxTensorBytes = 512;

// The case with inputs as inputs, integer inputs as initializers, all inputs as initializers.
int write_models(const OnnxCase& c, const fs::path& folder) {
  using namespace amdahl::testing;
  int written = 0;
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
  return written;
}

int write_tensor(const OnnxCase& c, const fs::path& folder) {
  if (c.inputs.empty() || fs::file_size(c.inputs[0]) > kMaxTensorBytes) return 0;
  fs::copy_file(c.inputs[0], folder / (c.name + ".pb"), fs::copy_options::overwrite_existing);
  try {
    save_npy(amdahl::load_tensor(c.inputs[0]), folder / (c.name + ".npy"));
  } catch (const std::exception&) {
    return 1;  // strings, sequences
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  const fs::path models = fs::path(argv[1]) / "load_model", tensors = fs::path(argv[1]) / "load_tensor";
  fs::create_directories(models);
  fs::create_directories(tensors);
  int written = 0;
  for (const OnnxCase& c : amdahl::testing::onnx_cases()) written += write_models(c, models) + write_tensor(c, tensors);
  std::printf("%d seeds in %s\n", written, argv[1]);
  return written == 0;
}

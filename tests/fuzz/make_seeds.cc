// make_seeds FOLDER: the fuzzers' seed corpora. FOLDER/load_model: ONNX's operator cases and those of tests/conformance, each with its inputs as inputs and
// again as initializers (then every evaluator runs while the file loads). FOLDER/load_tensor: their tensors, as they are and as .npy. Large ones are
// left out: what they exercise, small ones do.

#include <cstdio>

#include "bench/conformance/stated_case.h"
#include "graph/onnx/tensor_io.h"
#include "graph/onnx_types.h"
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

onnx::TensorProto proto_of(const amdahl::Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(amdahl::onnx_of_dtype(tensor.dtype()));
  for (const int64_t d : tensor.shape()) proto.add_dims(d);
  proto.set_raw_data(tensor.data(), tensor.bytes());
  return proto;
}

// Operators that ONNX's cases leave out, ONNX Runtime's own above all.
int write_stated(const fs::path& folder) {
  amdahl::conformance::CaseReader reader(AMDAHL_STATED_CASES);
  int written = 0;
  while (std::optional<amdahl::conformance::StatedCase> c = reader.next()) {
    std::ofstream(folder / ("stated" + std::to_string(written++))) << c->model.SerializeAsString();
    onnx::GraphProto& graph = *c->model.mutable_graph();
    graph.clear_input();
    for (const auto& [name, tensor] : c->inputs) *graph.add_initializer() = proto_of(tensor, name);
    std::ofstream(folder / ("stated" + std::to_string(written++))) << c->model.SerializeAsString();
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
  int written = write_stated(models);
  for (const OnnxCase& c : amdahl::testing::onnx_cases()) written += write_models(c, models) + write_tensor(c, tensors);
  std::printf("%d seeds in %s\n", written, argv[1]);
  return written == 0;
}

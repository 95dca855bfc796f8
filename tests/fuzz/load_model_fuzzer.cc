// libFuzzer's target for everything between the bytes of a model file and a graph with its plan: parsing, external data, local
// functions, shape rules, constant evaluation, clean-up, lowering. bench/trust/fuzz builds and runs it.

#include <google/protobuf/stubs/logging.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/load_model.h"
#include "tests/fuzz/model_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using amdahl::testing::FuzzRandom;

// A folder with a small file for external data to be found in.
const std::string& model_folder() {
  static const std::string folder = [] {
    std::string path = std::filesystem::temp_directory_path() / "amdahl-fuzz";
    std::filesystem::create_directories(path);
    std::ofstream(path + "/w.bin") << std::string(256, 'x');
    return path;
  }();
  return folder;
}

size_t write_back(const onnx::ModelProto& model, uint8_t* data, size_t size, size_t max_size) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.empty() || bytes.size() > max_size) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("OMP_NUM_THREADS", "1", 1);
  google::protobuf::SetLogHandler(nullptr);  // bytes that do not parse are no news here
  model_folder();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  amdahl::testing::load_hostile_model({reinterpret_cast<const char*>(data), size}, model_folder());
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  FuzzRandom random(seed + 1);
  onnx::ModelProto model;
  if (random() % 16 == 0 || !model.ParseFromArray(data, static_cast<int>(size))) return LLVMFuzzerMutate(data, size, max_size);
  for (size_t i = 1 + random() % 4; i > 0; --i) amdahl::testing::mutate_model(model, random);
  return write_back(model, data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2, size_t size2, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  FuzzRandom random(seed + 1);
  onnx::ModelProto a, b;
  if (!a.ParseFromArray(data1, static_cast<int>(size1)) || !b.ParseFromArray(data2, static_cast<int>(size2))) return 0;
  amdahl::testing::splice_model(a, b, random);
  return write_back(a, out, 0, max_size);
}

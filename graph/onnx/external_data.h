#pragma once
// Weights that live beside the model file. A model is untrusted input: it may only name files below its own folder.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "graph/onnx/mapped_file.h"
#include "graph/tensor.h"

namespace amdahl {

class ExternalData {
 public:
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The `length` bytes at `offset` of `location` as a tensor; length < 0: as many as the shape needs. The result shares
  // the file's mapping. Throws Error(kBadModel): path leaves the folder, file missing, too short, sizes disagree, or the
  // model reads the same file over and over.
  Tensor read(const std::string& tensor, const std::string& location, int64_t offset, int64_t length, DType dtype, const Shape& shape);

 private:
  struct File {
    MappedFile bytes;
    double read = 0, copied = 0;  // bytes, by all tensors so far
  };
  File& open(const std::string& tensor, const std::string& location);
  static void count(File& file, const std::string& location, double bytes, bool copies);

  std::filesystem::path folder_;
  std::map<std::string, File> files_;  // by location: each file is mapped once
};

}  // namespace amdahl

#pragma once
// Weights that live beside the model file. A model is untrusted input: it may only name files below its own folder.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "graph/mapped_file.h"
#include "graph/tensor.h"

namespace amdahl {

class ExternalData {
 public:
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The `length` bytes at `offset` of `location` as a tensor; length < 0: as many as the shape needs. The result shares
  // the file's mapping. Throws Error(kBadModel): path leaves the folder, file missing, too short, or sizes disagree.
  Tensor read(const std::string& tensor, const std::string& location, int64_t offset, int64_t length, DType dtype,
              const Shape& shape);

 private:
  const MappedFile& open(const std::string& tensor, const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, MappedFile> files_;  // by location: each file is mapped once
};

}  // namespace amdahl

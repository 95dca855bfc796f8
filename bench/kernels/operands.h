#pragma once
// A kernel of make_models.py as a peer gets it: inputs as compare.py wrote them, the file's initializers, room for the output.

#include <map>
#include <string>
#include <vector>

#include "bench/kernels/huge_array.h"
#include "graph/tensor.h"

namespace amdahl {

struct Operand {
  Shape shape;
  HugeArray data;
};

struct Operands {
  std::string kernel;  // softmax-4096x4096, of FOLDER/softmax-4096x4096/model.onnx
  std::vector<Operand> inputs;
  std::map<std::string, Tensor> constants;
  Operand output;

  const Tensor& constant(const std::string& name) const;  // throws Error where the file has none
};

Operands read_operands(const std::string& onnx_file, const std::string& input_folder);
HugeArray copy_of(const Tensor& tensor);  // float32

}  // namespace amdahl

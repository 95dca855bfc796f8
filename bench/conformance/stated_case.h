#pragma once
// A model of one operator, its inputs, and what other implementations say its outputs are.
//
// A file of them is written by stream.py: gzip over a ModelProto and a GraphProto in turn, each behind its length (protobuf's delimited
// messages). The GraphProto is named after the case; its initializers are the inputs "input/NAME" and the stated outputs "REFERENCE/NUMBER".

#include <onnx/onnx_pb.h>

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/tensor.h"

namespace google::protobuf::io {
class ZeroCopyInputStream;
}

namespace amdahl::conformance {

struct StatedCase {
  std::string name;
  onnx::ModelProto model;
  std::map<std::string, Tensor> inputs;                    // by name
  std::map<std::string, std::map<size_t, Tensor>> stated;  // by reference, then by number of the output

  const std::string& op() const { return model.graph().node(0).op_type(); }
};

class CaseReader {
 public:
  explicit CaseReader(const std::string& path);  // throws Error(kIo)
  ~CaseReader();
  std::optional<StatedCase> next();  // throws Error(kBadInput) where the file is damaged

 private:
  std::string path_;
  std::ifstream file_;
  std::unique_ptr<google::protobuf::io::ZeroCopyInputStream> bytes_, plain_;
};

}  // namespace amdahl::conformance

#include "bench/conformance/stated_case.h"

#include <fmt/format.h>
#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "base/error.h"
#include "graph/onnx/onnx_tensor.h"

namespace amdahl::conformance {
namespace {

Tensor tensor_of(onnx::TensorProto& proto) {
  std::string refusal;
  Tensor tensor = read_tensor(proto, proto.name(), nullptr, &refusal);
  if (!refusal.empty()) throw Error(ExitCode::kBadInput, fmt::format("{}: {}", proto.name(), refusal));
  return tensor;
}

void take_tensors(onnx::GraphProto& data, StatedCase& out) {
  for (auto& proto : *data.mutable_initializer()) {
    const std::string name = proto.name();
    const size_t slash = name.find('/');
    const std::string owner = name.substr(0, slash), rest = name.substr(slash + 1);
    if (owner == "input") out.inputs[rest] = tensor_of(proto);
    else out.stated[owner][std::stoul(rest)] = tensor_of(proto);
  }
}

}  // namespace

CaseReader::CaseReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) throw Error(ExitCode::kIo, fmt::format("cannot open {}", path));
  bytes_ = std::make_unique<google::protobuf::io::IstreamInputStream>(&file_);
  plain_ = std::make_unique<google::protobuf::io::GzipInputStream>(bytes_.get());
}

CaseReader::~CaseReader() = default;

std::optional<StatedCase> CaseReader::next() {
  using google::protobuf::util::ParseDelimitedFromZeroCopyStream;
  StatedCase out;
  bool at_end = false;
  if (!ParseDelimitedFromZeroCopyStream(&out.model, plain_.get(), &at_end)) {
    if (at_end) return std::nullopt;
    throw Error(ExitCode::kBadInput, fmt::format("{} is damaged: write it again", path_));
  }
  onnx::GraphProto data;
  if (!ParseDelimitedFromZeroCopyStream(&data, plain_.get(), nullptr)) throw Error(ExitCode::kBadInput, fmt::format("{} is damaged: write it again", path_));
  out.name = data.name();
  take_tensors(data, out);
  return out;
}

}  // namespace amdahl::conformance

// Clean-up and the writer against ONNX's own operator cases (Debian package libonnx-testdata): before, after, and saved
// and loaded again, every model means the same.

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "graph/clean_up/clean_up.h"
#include "graph/models/load_model.h"
#include "graph/onnx/onnx_load.h"
#include "graph/onnx/onnx_save.h"
#include "tests/graph/same_meaning.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

template <typename Proto>
Proto read(const fs::path& path) {
  Proto proto;
  std::ifstream in(path, std::ios::binary);
  proto.ParseFromIstream(&in);
  return proto;
}

// The case's model with the inputs that are not floats as initializers (they are shapes, axes, indices), and symbolic
// dimensions as in its data.
onnx::ModelProto specialised(const fs::path& folder) {
  onnx::ModelProto model = read<onnx::ModelProto>(folder / "model.onnx");
  onnx::GraphProto& graph = *model.mutable_graph();
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto data = read<onnx::TensorProto>(folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb"));
    onnx::ValueInfoProto info = graph.input(i);
    if (!info.type().has_tensor_type()) return {};
    if (info.type().tensor_type().elem_type() != onnx::TensorProto::FLOAT) {
      *graph.add_initializer() = data;
      graph.mutable_initializer(graph.initializer_size() - 1)->set_name(info.name());
      continue;
    }
    auto* shape = info.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->Clear();
    for (int64_t d : data.dims()) shape->add_dim()->set_dim_value(d);
    *inputs.Add() = info;
  }
  *graph.mutable_input() = inputs;
  return model;
}

TEST(CleanUpCorpus, OnnxCasesKeepTheirMeaning) {
  const fs::path data = "/usr/share/libonnx-testdata/data/node";
  if (!fs::exists(data)) GTEST_SKIP() << "package libonnx-testdata is not installed";
  const testing::TemporaryFolder dir;
  LoadOptions raw;
  raw.clean = false;
  int compared = 0;
  for (const auto& folder : fs::directory_iterator(data)) {
    const std::string name = folder.path().filename().string();
    SCOPED_TRACE(name);
    const std::string bytes = specialised(folder.path()).SerializeAsString();
    Graph before;
    try {
      before = load_onnx_bytes(bytes, "", raw);
    } catch (const Error&) {
      continue;  // refused: the conformance test asks why
    }
    Graph after = before;
    clean_up(after);
    testing::expect_same_meaning(before, after, 1e-6);
    save_onnx(before, dir / "m.onnx", false);
    testing::expect_same_meaning(before, load_model(dir / "m.onnx", raw), 1e-6);
    if (HasFailure()) return;
    ++compared;
  }
  EXPECT_GT(compared, 600);
}

}  // namespace
}  // namespace amdahl

#include "graph/models/index_ranges.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/op.h"

namespace amdahl {
namespace {

// Inputs, constants and nodes of a graph under construction; a run's tensors beside its inputs.
class GivenRun {
 public:
  ValueId input(const char* name, Tensor tensor) {
    graph_.inputs.push_back(graph_.add_value(name, tensor.dtype(), tensor.shape()));
    tensors_.push_back(std::move(tensor));
    return graph_.inputs.back();
  }
  ValueId ints(const char* name, Shape shape, const std::vector<int64_t>& values) { return input(name, from_ints(DType::kI64, std::move(shape), values)); }
  ValueId zeros(const char* name, Shape shape) {
    const auto n = static_cast<size_t>(numel(shape));
    return input(name, from_doubles(DType::kF32, std::move(shape), std::vector<double>(n)));
  }
  ValueId constant(const char* name, const std::vector<int64_t>& values) {
    return graph_.add_constant(name, from_ints(DType::kI64, {static_cast<int64_t>(values.size())}, values));
  }
  ValueId node(const char* op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {}, int version = 18, const char* domain = "") {
    Node node{"the node", domain, op, version, std::move(attributes), std::move(inputs), {}};
    node.outputs = {0};
    const auto types = infer_node(graph_, node);
    node.outputs = {graph_.add_value("y", types[0].dtype, types[0].shape)};
    graph_.nodes.push_back(node);
    return node.outputs[0];
  }
  // Empty where every index is in range.
  std::string fault() const {
    try {
      check_indices(graph_, tensors_);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kBadInput);
      return e.what();
    }
    return "";
  }

 private:
  Graph graph_;
  std::vector<Tensor> tensors_;
};

std::string gather(const std::vector<int64_t>& indices, std::map<std::string, Attribute> attributes = {}) {
  GivenRun run;
  run.node("Gather", {run.zeros("table", {2, 5}), run.ints("ids", {static_cast<int64_t>(indices.size())}, indices)}, std::move(attributes));
  return run.fault();
}

TEST(IndexRanges, GatherCountsFromEitherEnd) {
  EXPECT_EQ(gather({0, 1, -1, -2}), "");
  EXPECT_EQ(gather({7}), "node 'the node' (Gather): 'ids' holds index 7 into 'table' of shape [2, 5]; it must lie in [-2, 1]");
  EXPECT_NE(gather({0, -3}), "");
  EXPECT_EQ(gather({4, -5}, {{"axis", int64_t{1}}}), "");
  EXPECT_NE(gather({5}, {{"axis", int64_t{-1}}}), "");
}

TEST(IndexRanges, ElementsAlongAnAxis) {
  const auto fault = [](const char* op, int64_t index) {
    GivenRun run;
    const ValueId data = run.zeros("data", {3, 2}), ids = run.ints("ids", {1, 2}, {0, index});
    std::vector<ValueId> in{data, ids};
    if (std::string_view(op) != "GatherElements") in.push_back(run.zeros("updates", {1, 2}));
    run.node(op, in, {{"axis", int64_t{1}}}, 10);
    return run.fault();
  };
  for (const char* op : {"GatherElements", "ScatterElements", "Scatter"}) {
    EXPECT_EQ(fault(op, -2), "") << op;
    EXPECT_NE(fault(op, 2), "") << op;  // a row of the other dimension
    EXPECT_NE(fault(op, -3), "") << op;
  }
}

TEST(IndexRanges, EachNumberOfATupleHasItsOwnRange) {
  const auto fault = [](std::vector<int64_t> tuple) {
    GivenRun gathers, scatters;
    gathers.node("GatherND", {gathers.zeros("data", {2, 4, 3}), gathers.ints("ids", {1, 2}, tuple)});
    scatters.node("ScatterND", {scatters.zeros("data", {2, 4, 3}), scatters.ints("ids", {1, 2}, tuple), scatters.zeros("updates", {1, 3})});
    EXPECT_EQ(gathers.fault().empty(), scatters.fault().empty());
    return gathers.fault();
  };
  EXPECT_EQ(fault({1, 3}), "");
  EXPECT_EQ(fault({-2, -4}), "");
  EXPECT_NE(fault({3, 1}), "");
  EXPECT_NE(fault({1, 4}), "");
  GivenRun batched;
  batched.node("GatherND", {batched.zeros("data", {2, 4, 3}), batched.ints("ids", {2, 1}, {3, 4})}, {{"batch_dims", int64_t{1}}});
  EXPECT_NE(batched.fault().find("[-4, 3]"), std::string::npos) << batched.fault();
}

TEST(IndexRanges, LabelsPositionsAndImagesDoNotCountFromTheEnd) {
  const auto loss = [](int64_t label) {
    GivenRun run;
    run.node("NegativeLogLikelihoodLoss", {run.zeros("scores", {1, 4}), run.ints("labels", {1}, {label})}, {{"ignore_index", int64_t{-100}}});
    return run.fault();
  };
  EXPECT_EQ(loss(3), "");
  EXPECT_EQ(loss(-100), "");
  EXPECT_NE(loss(-1), "");
  EXPECT_NE(loss(4), "");
  const auto rotary = [](int64_t first) {
    GivenRun run;
    run.node("RotaryEmbedding", {run.zeros("x", {1, 1, 3, 4}), run.ints("first", {1}, {first}), run.zeros("cos", {8, 2}), run.zeros("sin", {8, 2})}, {}, 1,
             "com.microsoft");
    return run.fault();
  };
  EXPECT_EQ(rotary(5), "");  // positions 5, 6, 7
  EXPECT_NE(rotary(6), "");
  const auto regions = [](int64_t image) {
    GivenRun run;
    run.node("RoiAlign", {run.zeros("images", {2, 1, 3, 3}), run.zeros("rois", {1, 4}), run.ints("batch_indices", {1}, {image})});
    return run.fault();
  };
  EXPECT_EQ(regions(1), "");
  EXPECT_NE(regions(2), "");
  EXPECT_NE(regions(-1), "");
}

TEST(IndexRanges, LengthsOfARecurrenceReachToItsLastStep) {
  const auto lstm = [](const std::vector<int64_t>& lengths) {
    GivenRun run;
    const ValueId x = run.zeros("x", {3, 2, 4}), w = run.zeros("w", {1, 20, 4}), r = run.zeros("r", {1, 20, 5});
    run.node("LSTM", {x, w, r, kNoValue, run.ints("lengths", {2}, lengths)});
    return run.fault();
  };
  EXPECT_EQ(lstm({0, 3}), "");
  EXPECT_NE(lstm({4, 3}), "");
  EXPECT_NE(lstm({1, -1}), "");
}

TEST(IndexRanges, OfConstantsAndOfWhatTheGraphComputes) {
  GivenRun constant;
  constant.node("Gather", {constant.zeros("table", {2, 5}), constant.constant("ids", {0, 2})});
  EXPECT_NE(constant.fault(), "");
  const auto shifted = [](int64_t by) {
    GivenRun run;
    const ValueId ids = run.node("Add", {run.ints("ids", {2}, {0, 1}), run.constant("by", {by})});
    run.node("Gather", {run.zeros("table", {4, 5}), ids});
    return run.fault();
  };
  EXPECT_EQ(shifted(2), "");
  EXPECT_NE(shifted(3), "");
}

TEST(IndexRanges, AnIndexThatReadsAnotherIsReportedWhereItGoesWrong) {
  GivenRun run;
  const ValueId first = run.node("Gather", {run.constant("table", {0, 1}), run.ints("ids", {1}, {2})});
  run.node("Gather", {run.zeros("rows", {2, 5}), first});
  EXPECT_NE(run.fault().find("'ids' holds index 2 into 'table'"), std::string::npos) << run.fault();
}

TEST(IndexRanges, NothingIsInRangeOfAnEmptyDimension) {
  GivenRun run;
  run.node("GatherElements", {run.zeros("data", {0, 2}), run.ints("ids", {1, 2}, {0, 0})});
  EXPECT_NE(run.fault().find("there is nothing to index"), std::string::npos) << run.fault();
  GivenRun none;
  none.node("GatherElements", {none.zeros("data", {0, 2}), none.ints("ids", {0, 2}, {})});
  EXPECT_EQ(none.fault(), "");
}

// What takes long to compute is left to the kernel, which clamps.
TEST(IndexRanges, LongComputationsAreNotWaitedFor) {
  GivenRun run;
  const ValueId x = run.zeros("x", {3000, 3000});
  const ValueId best = run.node("ArgMax", {run.node("MatMul", {x, x})}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  run.node("Gather", {run.zeros("table", {4, 5}), run.node("Add", {best, run.constant("by", {9})})});
  EXPECT_EQ(run.fault(), "");
}

}  // namespace
}  // namespace amdahl

// The ONNX project's own cases (tests/graph/onnx_cases.h) through the loader and the oracle. Which must pass follows from the op list: all
// whose operators it has, save those that ask for what no Graph has. tests/plan/onnx_conformance_test.cc runs them through kernels.
//
// An operator without a case here, or that left the op list, is seen by tests/conformance/second_opinion_test.cc: its generated cases
// are of every operator.

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/graph/onnx_cases.h"

namespace amdahl {
namespace {

using testing::OnnxCase;
using testing::Outcome;

// What a case of known operators may be refused for: a part of the reason that the loader gives.
const std::vector<std::string> kNotInAGraph = {
    "it is a sequence",
    "it is an optional",
    "element type string",
    "(ai.onnx 9): 'body' has 2 inputs, not 3",  // Scan before opset 9 had a batch
    "training mode",                            // Dropout
};

// Cases whose expected values, computed in fp32 by ONNX's reference, lie outside the derived bounds, though within its own tolerance. Windows are constants here,
// exact, and a transform is a product with a matrix, whose zeros are exact: a fast transform rounds there too. Of GridSample and RoiAlign they have four digits.
const std::set<std::string> kLoose = {
    "test_blackmanwindow",
    "test_blackmanwindow_symmetric",
    "test_hammingwindow",
    "test_hammingwindow_symmetric",
    "test_hannwindow",
    "test_hannwindow_symmetric",
    "test_dft",
    "test_dft_axis",
    "test_dft_inverse",
    "test_blackmanwindow_expanded",
    "test_blackmanwindow_symmetric_expanded",
    "test_hammingwindow_expanded",
    "test_hammingwindow_symmetric_expanded",
    "test_hannwindow_expanded",
    "test_hannwindow_symmetric_expanded",
    "test_gridsample_bicubic",
    "test_roialign_aligned_false",
    "test_roialign_aligned_true",
};

std::set<std::string> operators_of(const OnnxCase& c) {
  std::set<std::string> operators;
  for (const auto& node : c.model.graph().node()) operators.insert(node.domain() + ":" + node.op_type());
  return operators;
}

bool has_only_known(const onnx::GraphProto& graph);

bool is_known(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  const bool control_flow = node.domain().empty() && (op == "If" || op == "Loop" || op == "Scan");
  const auto& attributes = node.attribute();
  return (control_flow || find_op(node.domain(), op)) &&
         std::all_of(attributes.begin(), attributes.end(), [](const onnx::AttributeProto& a) { return !a.has_g() || has_only_known(a.g()); });
}

bool has_only_known(const onnx::GraphProto& graph) { return std::all_of(graph.node().begin(), graph.node().end(), is_known); }

bool has_only_known(const OnnxCase& c) { return has_only_known(c.model.graph()); }

struct Judged {
  const OnnxCase* c;
  Outcome outcome;
  bool known;  // all of its operators are in the op list
  std::string text() const { return c->group + "/" + c->name + ": " + outcome.reason; }
};

// Every case by the oracle, once for all tests; empty when they are not installed.
const std::vector<Judged>& judged() {
  static const std::vector<OnnxCase> cases = testing::onnx_cases();
  static const std::vector<Judged> all = [] {
    std::vector<Judged> outcomes;
    for (const OnnxCase& c : cases) outcomes.push_back({&c, testing::interpreter_outcome(c), has_only_known(c)});
    return outcomes;
  }();
  return all;
}

void print_summary() {
  int passed = 0, unsupported = 0;
  std::map<std::string, int> reasons;
  for (const Judged& j : judged()) {
    passed += j.outcome.verdict == Outcome::kPassed;
    if (j.outcome.verdict != Outcome::kUnsupported) continue;
    ++unsupported;
    ++reasons[testing::reason_of(j.outcome.reason)];
  }
  std::printf("%d cases pass, %d are unsupported:\n", passed, unsupported);
  for (const auto& [reason, count] : reasons) std::printf("  %4d  %s\n", count, reason.c_str());
}

class OnnxConformance : public ::testing::Test {
 protected:
  void SetUp() override {
    if (judged().empty()) GTEST_SKIP() << "install libonnx-testdata to run ONNX's operator cases (" << testing::kOnnxData << ")";
  }
  static void TearDownTestSuite() { print_summary(); }
};

TEST_F(OnnxConformance, NoCaseFails) {
  for (const Judged& j : judged()) EXPECT_NE(j.outcome.verdict, Outcome::kFailed) << j.text();
}

TEST_F(OnnxConformance, CasesOfKnownOperatorsPass) {
  std::set<std::string> used;
  for (const Judged& j : judged()) {
    if (!j.known || j.outcome.verdict != Outcome::kUnsupported) continue;
    const std::string reason = testing::reason_of(j.outcome.reason);
    const auto why = std::find_if(kNotInAGraph.begin(), kNotInAGraph.end(), [&](const std::string& limit) { return reason.find(limit) != std::string::npos; });
    if (why == kNotInAGraph.end()) ADD_FAILURE() << j.text();
    else used.insert(*why);
  }
  for (const std::string& limit : kNotInAGraph) EXPECT_TRUE(used.count(limit)) << "no case is refused for '" << limit << "' any more: take it out of the list";
}

TEST_F(OnnxConformance, EveryOperatorWithCasesPassesOne) {
  std::set<std::string> asked, passed;
  for (const Judged& j : judged()) {
    const std::set<std::string> operators = operators_of(*j.c);
    if (j.known) asked.insert(operators.begin(), operators.end());
    if (j.outcome.verdict == Outcome::kPassed) passed.insert(operators.begin(), operators.end());
  }
  for (const std::string& op : asked) EXPECT_TRUE(passed.count(op)) << op;
}

TEST_F(OnnxConformance, ExpectedValuesLieWithinTheBounds) {
  std::set<std::string> loose;
  for (const Judged& j : judged())
    if (j.outcome.verdict == Outcome::kPassed && !j.outcome.within_bounds) loose.insert(j.c->name);
  for (const std::string& name : loose) EXPECT_TRUE(kLoose.count(name)) << name << " passes, but not within the derived bounds";
  for (const std::string& name : kLoose) EXPECT_TRUE(loose.count(name)) << name << " lies within the bounds now: take it out of the list";
}

// The two ends of what files are written in.
TEST_F(OnnxConformance, ANewerVersionMeansTheSame) {
  for (const Judged& j : judged()) {
    if (j.outcome.verdict != Outcome::kPassed) continue;
    for (int opset : {17, 26}) {
      const Outcome outcome = testing::interpreter_outcome(*j.c, opset);
      EXPECT_EQ(outcome.verdict, Outcome::kPassed) << j.c->name << ", opset " << opset << ": " << outcome.reason;
    }
  }
}

}  // namespace
}  // namespace amdahl

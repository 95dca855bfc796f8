#include "graph/check_signature.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

// A graph of one value of each kind; a node is given some of them.
class CheckSignature : public ::testing::Test {
 protected:
  CheckSignature() {
    f = graph.add_value("f", DType::kF32, {2});
    i = graph.add_value("i", DType::kI64, {2});
    b = graph.add_value("b", DType::kBool, {2});
  }
  std::string refusal(const std::string& op, std::vector<ValueId> inputs, size_t outputs = 1) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs.assign(outputs, 3);
    try {
      check_signature(*find_op("", op), graph, node);
    } catch (const Refusal& e) {
      return e.what();
    }
    return "";
  }
  Graph graph;
  ValueId f, i, b;
};

TEST_F(CheckSignature, WhatFitsPasses) {
  EXPECT_EQ(refusal("Add", {f, f}), "");
  EXPECT_EQ(refusal("Gather", {b, i}), "");
  EXPECT_EQ(refusal("Clip", {f, kNoValue, f}), "");
  EXPECT_EQ(refusal("Concat", {f, f, f, f}), "");
  EXPECT_EQ(refusal("Split", {f}, 7), "");
}

TEST_F(CheckSignature, TooFewTooManyAndAbsent) {
  EXPECT_EQ(refusal("Add", {f}), "input 1 is missing");
  EXPECT_EQ(refusal("Add", {f, kNoValue}), "input 1 is missing");
  EXPECT_EQ(refusal("Concat", {}), "input 0 is missing");
  EXPECT_EQ(refusal("Concat", {f, kNoValue, f}), "input 1 is missing");
  EXPECT_EQ(refusal("Add", {f, f, f}), "3 inputs, at most 2 are known");
  EXPECT_EQ(refusal("Add", {f, f}, 2), "2 outputs, at most 1 are known");
}

TEST_F(CheckSignature, Types) {
  EXPECT_EQ(refusal("Exp", {i}), "input 0 is i64, it must be a float");
  EXPECT_EQ(refusal("Gather", {f, f}), "input 1 is f32, it must be an integer");
  EXPECT_EQ(refusal("Gather", {f, b}), "input 1 is bool, it must be an integer");
  EXPECT_EQ(refusal("Where", {i, f, f}), "input 0 is i64, it must be bool");
  EXPECT_EQ(refusal("Add", {b, b}), "input 0 is bool, it must be a number");
}

}  // namespace
}  // namespace amdahl

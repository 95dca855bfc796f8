// What other implementations say of every operator: cases.bin holds generated cases with the outputs of onnx.reference and ONNX Runtime.
// The oracle must agree with them, a cleaned-up model with the oracle, and starter kernels (of some cases of each operator) too.
//
// `bench/conformance/run --keep tests/conformance/cases.bin` writes the file again, and needs the network once, for the other implementations; it runs 10,000 fresh cases, and finds what these do not.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "bench/conformance/opinions.h"
#include "graph/op.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

using conformance::CaseReader;
using conformance::StatedCase;

const std::vector<StatedCase>& cases() {
  static const std::vector<StatedCase> all = [] {
    std::vector<StatedCase> read;
    CaseReader reader(AMDAHL_STATED_CASES);
    while (std::optional<StatedCase> c = reader.next()) read.push_back(std::move(*c));
    return read;
  }();
  return all;
}

std::string operator_of(const StatedCase& c) {
  const onnx::NodeProto& node = c.model.graph().node(0);
  return node.domain() + ":" + node.op_type();
}

TEST(SecondOpinion, EveryOperatorHasOne) {
  std::set<std::string> known, seen;
  for (const OpDef& op : op_list()) known.insert(std::string(op.domain) + ":" + std::string(op.name));
  for (const char* op : {":If", ":Loop", ":Scan"}) known.insert(op);  // written out by the loader
  for (const StatedCase& c : cases()) {
    EXPECT_FALSE(c.stated.empty()) << c.name;
    seen.insert(operator_of(c));
  }
  for (const std::string& op : known) EXPECT_TRUE(seen.count(op)) << op << " has no generated case: add a recipe and write cases.bin again";
  for (const std::string& op : seen) EXPECT_TRUE(known.count(op)) << op << " has generated cases, but is no operator of the list";
}

TEST(SecondOpinion, TheOracleAgrees) {
  for (const StatedCase& c : cases())
    for (const auto& [reference, difference] : conformance::differences(c, conformance::interpret(conformance::load(c, false))))
      EXPECT_EQ(difference, "") << c.name << ", " << reference;
}

TEST(SecondOpinion, CleaningUpKeepsTheMeaning) {
  for (const StatedCase& c : cases()) EXPECT_EQ(conformance::change_by_cleaning(c), "") << c.name;
}

// The first case of each operator that has kernels. The others' kernels differ by their shapes only, mostly: the bench runs more.
TEST(SecondOpinion, KernelsAgree) {
  std::vector<testing::Case> compiled;
  std::vector<std::vector<Tensor>> inputs;
  std::set<std::string> seen;
  for (const StatedCase& c : cases()) {
    if (seen.count(operator_of(c))) continue;
    try {
      conformance::LoadedCase loaded = conformance::load(c, true);
      Plan plan = starter_plan(loaded.graph, 2, cpu_target());
      if (plan.steps.empty()) continue;
      compiled.push_back({c.name, std::move(loaded.graph), std::move(plan), 0});
      inputs.push_back(std::move(loaded.inputs));
      seen.insert(operator_of(c));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kUnsupported) << c.name << ": " << e.what();
    }
  }
  EXPECT_GT(seen.size(), 120u);
  testing::compile_ahead(compiled);
  for (size_t i = 0; i < compiled.size(); ++i) {
    const testing::Judgement j = testing::judge(compiled[i].graph, compiled[i].plan, inputs[i]);
    EXPECT_TRUE(j.within) << compiled[i].name << ": " << j.reason;
  }
}

}  // namespace
}  // namespace amdahl

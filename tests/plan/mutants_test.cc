// Broken kernels that must be rejected. A mutant is a starter's text with one passage replaced; it must compile, and the oracle
// must reject it on at least one of its kind's examples. A test set that lets a mutant live is not good enough.
//
// One file a kind: mutants/<kind>.inc, rows {"name", "text to find", "replacement"}.

#include <gtest/gtest.h>

#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

struct Mutation {
  std::string name, find, put;
};
struct KindMutants {
  std::string kind;
  std::vector<Mutation> mutations;
};

#define AMDAHL_KIND(kind) \
  { #kind, {
#define AMDAHL_END \
  } }

const std::vector<KindMutants> kMutants{
#include "tests/plan/mutants/all.inc"
};

class Mutants : public ::testing::TestWithParam<KindMutants> {};

// Rejected on some example: crash-free mutants only (crashes are the worker's test).
void expect_rejected(const std::string& kind_name, const Mutation& mutation) {
  const KernelKind& kind = kernel_kind(kind_name);
  int applied = 0;
  std::string build_error;
  const std::vector<Graph> examples = kind.examples();
  for (size_t e = 0; e < examples.size(); ++e) {
    Plan plan = starter_plan(examples[e], 2);
    bool changed = false;
    for (Step& step : plan.steps) {
      if (step.variant.problem.kind != kind_name) continue;
      std::string text = kind.source(step.variant);
      size_t at = text.find(mutation.find);
      if (at == std::string::npos) continue;
      for (; at != std::string::npos; at = text.find(mutation.find, at + mutation.put.size()))
        text.replace(at, mutation.find.size(), mutation.put);
      step.variant.source_override = text;
      changed = true;
    }
    if (!changed) continue;
    ++applied;
    const testing::Judgement j = testing::judge(examples[e], plan, 11 + e);
    if (!j.built) {
      build_error = j.reason;
      continue;
    }
    if (!j.within) return;
  }
  EXPECT_GT(applied, 0) << kind_name << ": the text of mutant '" << mutation.name << "' is in no source";
  ADD_FAILURE() << kind_name << ": mutant '" << mutation.name << "' lives. " << build_error;
}

TEST_P(Mutants, AreRejected) {
  if (const char* only = std::getenv("AMDAHL_KINDS"))
    if (fmt::format(",{},", only).find(fmt::format(",{},", GetParam().kind)) == std::string::npos)
      GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  EXPECT_GE(GetParam().mutations.size(), 4u);
  for (const Mutation& mutation : GetParam().mutations) expect_rejected(GetParam().kind, mutation);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Mutants, ::testing::ValuesIn(kMutants), [](const auto& info) { return info.param.kind; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Mutants);

}  // namespace
}  // namespace amdahl

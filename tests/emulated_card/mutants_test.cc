// Broken texts for NVIDIA's cards that must be rejected on the emulated card: a starter's text with one passage replaced builds, and a fault or the oracle
// rejects it on at least one of its kind's cases. A set of cases that lets one live is not good enough.
//
// One file a kind: mutants/<kind>.inc, rows {"text", {"name", "passage", "replacement", {knobs}}}. The text is a file of starter_kernels/cuda/kernels, or of
// starter_kernels/cuda where the passage is generated.

#include "tests/plan/mutants.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "starter_kernels/cuda/cuda_text.h"
#include "tests/emulated_card/emulated_bench.h"
#include "tests/plan/kinds_on_card.h"

namespace amdahl {
namespace {

struct TextMutation {
  std::string_view text;
  testing::Mutation mutation;
};
struct KindMutants {
  std::string kind;
  std::vector<TextMutation> rows;

  std::vector<testing::Mutation> mutations() const {
    std::vector<testing::Mutation> all;
    for (const TextMutation& row : rows) all.push_back(row.mutation);
    return all;
  }
};

const std::vector<KindMutants> kMutants{
#include "tests/emulated_card/mutants/all.inc"
};

const testing::KernelBench& bench() { return testing::emulated_bench(testing::Generation::kSm90); }

class CardMutants : public ::testing::TestWithParam<KindMutants> {
 protected:
  void SetUp() override {
    if (!testing::kind_selected(GetParam().kind)) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
    cases_ = testing::cases_on_card(kernel_kind(GetParam().kind), bench());
  }
  std::vector<testing::Case> cases_;
};

// By a case that the honest text passes; starters pass all (conformance_test.cc).
TEST_P(CardMutants, AreRejected) {
  const std::vector<testing::Fate> fates = testing::fates_of(GetParam().kind, GetParam().mutations(), cases_, bench(), [](Plan plan) { return plan; });
  std::vector<testing::Case> honest;
  for (size_t m = 0; m < fates.size(); ++m) {
    const auto& [text, mutation] = GetParam().rows[m];
    if (!fates[m].alive.empty()) ADD_FAILURE() << text << ": mutant '" << mutation.name << "': " << fates[m].alive;
    else if (!mutation.knobs.empty()) honest.push_back(fates[m].honest.value());
  }
  testing::expect_within(honest, bench());
}

void PrintTo(const KindMutants& kind, std::ostream* out) { *out << kind.kind; }

INSTANTIATE_TEST_SUITE_P(Kinds, CardMutants, ::testing::ValuesIn(kMutants), [](const auto& info) { return info.param.kind; });

// Those that say nothing by themselves, that the emulated card replaces, or whose instructions it lacks: tests/plan/cuda_conformance_test.cc has mutants of these.
const std::set<std::string_view> kNotTried{
    ".clang-format",  "half.h",          "mma.h",         "plain_lines.h", "prelude.h",       "scalar_math.h",     "hopper.h",
    "cluster_sums.h", "matmul_wgmma.cu", "conv_wgmma.cu", "pushed_sums.h", "matmul_boxes.cu", "boxes_of_matrix.h", "boxes_of_windows.h"};

TEST(CardMutantLists, EveryTextHasTwoOrMore) {
  std::map<std::string, int> of;
  for (const KindMutants& kind : kMutants)
    for (const auto& [text, mutation] : kind.rows) {
      ++of[std::string(text)];
      if (text.ends_with(".cc")) continue;
      EXPECT_NE(cuda_text(text).find(mutation.find), std::string_view::npos) << text << " has no longer the passage of '" << mutation.name << "'";
    }
  for (const EmbeddedText& text : cuda_texts()) EXPECT_GE(of[std::string(text.name)], kNotTried.count(text.name) ? 0 : 2) << text.name;
}

}  // namespace
}  // namespace amdahl

// Broken kernels that must be rejected. A mutant is a starter's text with one passage replaced; it must compile, and the oracle
// must reject it on at least one of its kind's cases. A test set that lets a mutant live is not good enough.
//
// One file a kind, or a form of one with a text of its own: mutants/<kind>.inc, rows {"name", "text to find", "replacement", {knobs}}; knobs for passages that the
// starter does not run. AMDAHL_MUTANT_TABLE=FILE writes what came of each kind's, as Markdown.

#include "tests/plan/mutants.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "starter_kernels/cpu/cpu_target.h"

namespace amdahl {
namespace {

struct KindMutants {
  std::string kind;
  std::vector<testing::Mutation> mutations;
};

const std::vector<KindMutants> kMutants{
#include "tests/plan/mutants/all.inc"
};

// What became of a kind's mutants, for the table.
struct Score {
  int cases = 0, rejected = 0;
  bool honest_pass = false;
  std::vector<std::string> names;
};
std::map<std::string, Score>& scores() {
  static std::map<std::string, Score> all;
  return all;
}

class MutantTable : public ::testing::Environment {
 public:
  void TearDown() override {
    const char* path = std::getenv("AMDAHL_MUTANT_TABLE");
    if (!path || !*path) return;
    std::ofstream out(path);
    int rejected = 0, all = 0;
    out << "| kernel kind | cases | mutants rejected | honest texts pass | mutants |\n|---|---|---|---|---|\n";
    for (const auto& [kind, s] : scores()) {
      rejected += s.rejected;
      all += static_cast<int>(s.names.size());
      out << "| " << kind << " | " << s.cases << " | " << s.rejected << " of " << s.names.size() << " | " << (s.honest_pass ? "yes" : "**no**") << " | ";
      for (size_t i = 0; i < s.names.size(); ++i) out << (i ? "; " : "") << s.names[i];
      out << " |\n";
    }
    out << "| all | | " << rejected << " of " << all << " | | |\n";
    EXPECT_TRUE(out.flush()) << "cannot write " << path << ": set AMDAHL_MUTANT_TABLE to a file that can be written";
  }
};
[[maybe_unused]] const auto* const kTable = ::testing::AddGlobalTestEnvironment(new MutantTable);

class Mutants : public ::testing::TestWithParam<KindMutants> {};

// Crash-free mutants only: crashes are the worker's test.
TEST_P(Mutants, AreRejected) {
  const auto& [kind, mutations] = GetParam();
  if (!testing::kind_selected(kind)) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  if (testing::cases_of(kind).empty()) GTEST_SKIP() << "this machine cannot run " << kind;
  const std::vector<testing::Fate> fates = testing::fates_of(kind, mutations, testing::cases_of(kind), testing::processor_bench(), testing::unoptimised);
  Score& score = scores()[kind];
  score.cases = static_cast<int>(testing::cases_of(kind).size());
  score.rejected = static_cast<int>(std::count_if(fates.begin(), fates.end(), [](const testing::Fate& f) { return f.alive.empty(); }));
  for (const testing::Mutation& mutation : mutations) score.names.emplace_back(mutation.name);
  for (size_t m = 0; m < mutations.size(); ++m)
    if (!fates[m].alive.empty()) ADD_FAILURE() << kind << ": mutant '" << mutations[m].name << "': " << fates[m].alive;
}

// The same cases with the texts as they are, compiled as mutants are, under every set of knobs that a mutant asks for.
TEST_P(Mutants, HonestTextsPass) {
  const auto& [kind, mutations] = GetParam();
  if (!testing::kind_selected(kind)) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  if (testing::cases_of(kind).empty()) GTEST_SKIP() << "this machine cannot run " << kind;
  std::set<Knobs> settings;
  for (const testing::Mutation& mutation : mutations) settings.insert(mutation.knobs);
  std::vector<testing::Case> cases;
  for (const testing::Case& c : testing::cases_of(kind))
    for (const Knobs& knobs : settings)
      if (const auto plan = testing::with_knobs_of_kind(c.plan, kind, knobs, cpu_target()))
        cases.push_back({c.name, c.graph, testing::unoptimised(*plan), c.seed});
  testing::expect_within(cases);
  scores()[kind].honest_pass = !HasFailure();
}

// No kind is excepted: each has text of its own, those that only rewrites make are reached through made_plans.h.
TEST(MutantLists, EveryKindHasTwelveOrMore) {
  for (const KernelKind* kind : kernel_kinds()) {
    const auto row = std::find_if(kMutants.begin(), kMutants.end(), [&](const KindMutants& k) { return k.kind == kind->name(); });
    EXPECT_GE(row == kMutants.end() ? 0 : row->mutations.size(), 12u) << kind->name();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Mutants, ::testing::ValuesIn(kMutants), [](const auto& info) { return info.param.kind; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Mutants);

}  // namespace
}  // namespace amdahl

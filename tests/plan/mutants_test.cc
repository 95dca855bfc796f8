// Broken kernels that must be rejected. A mutant is a starter's text with one passage replaced; it must compile, and the oracle
// must reject it on at least one of its kind's cases. A test set that lets a mutant live is not good enough.
//
// One file a kind, or a form of one with a text of its own: mutants/<kind>.inc, rows {"name", "text to find", "replacement", {knobs}}; knobs for passages that the
// starter does not run. AMDAHL_MUTANT_TABLE=FILE writes what came of each kind's, as Markdown.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/plan/made_plans.h"

namespace amdahl {
namespace {

struct Mutation {
  std::string name, find, put;
  Knobs knobs = {};
};
struct KindMutants {
  std::string kind;
  std::vector<Mutation> mutations;
};

#define AMDAHL_KIND(kind) \
  {                       \
#kind, {
#define AMDAHL_END \
  }                \
  }

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

// The plan with these knobs in the kind's steps; nullopt where a step has no such knob or refuses the values.
std::optional<Plan> with_knobs_of_kind(Plan plan, const std::string& form, const Knobs& knobs) {
  const std::string kind = testing::kind_of(form);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Variant& variant = plan.steps[s].variant;
    if (variant.problem.kind != kind) continue;
    for (const auto& [name, value] : knobs)
      if (!variant.knobs.count(name)) return std::nullopt;
    const auto varied = testing::with_knobs(plan, s, knobs);
    if (!varied) return std::nullopt;
    plan = *varied;
  }
  return plan;
}

void replace_all(std::string& text, const std::string& find, const std::string& put) {
  for (size_t at = text.find(find); at != std::string::npos; at = text.find(find, at + put.size())) text.replace(at, find.size(), put);
}

// The plan with the passage replaced in the kind's steps; nullopt when none has it.
std::optional<Plan> mutated(const Plan& honest, const std::string& form, const Mutation& mutation) {
  const std::string kind = testing::kind_of(form);
  auto plan = with_knobs_of_kind(honest, form, mutation.knobs);
  if (!plan) return std::nullopt;
  bool changed = false;
  for (Step& step : plan->steps) {
    if (step.variant.problem.kind != kind) continue;
    const std::string text = cpu_target().source(step.variant);
    step.variant.source_override = text;
    replace_all(step.variant.source_override, mutation.find, mutation.put);
    changed |= step.variant.source_override != text;
  }
  return changed ? plan : std::nullopt;
}

// Crash-free mutants only (crashes are the worker's test). Case by case, so that those that still live are compiled together
// and most die in the first.
TEST_P(Mutants, AreRejected) {
  const auto& [kind, mutations] = GetParam();
  if (!testing::kind_selected(kind)) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  if (testing::cases_of(kind).empty()) GTEST_SKIP() << "this machine cannot run " << kind;
  std::vector<std::string> fate(mutations.size(), "its text is in no source");  // empty: rejected
  for (const testing::Case& honest : testing::cases_of(kind)) {
    std::vector<size_t> numbers;
    std::vector<testing::Case> mutants;
    for (size_t m = 0; m < mutations.size(); ++m)
      if (!fate[m].empty())
        if (const auto plan = mutated(honest.plan, kind, mutations[m])) {
          numbers.push_back(m);
          mutants.push_back({mutations[m].name, honest.graph, testing::unoptimised(*plan), honest.seed});
        }
    testing::compile_ahead(mutants);
    for (size_t i = 0; i < mutants.size(); ++i) {
      const testing::Judgement j = testing::judge(mutants[i]);
      fate[numbers[i]] = !j.built ? j.reason : j.within ? "it lives" : "";
    }
  }
  Score& score = scores()[kind];
  score.cases = static_cast<int>(testing::cases_of(kind).size());
  score.rejected = static_cast<int>(std::count(fate.begin(), fate.end(), ""));
  for (const Mutation& mutation : mutations) score.names.push_back(mutation.name);
  for (size_t m = 0; m < mutations.size(); ++m)
    if (!fate[m].empty()) ADD_FAILURE() << kind << ": mutant '" << mutations[m].name << "': " << fate[m];
}

// The same cases with the texts as they are, under every set of knobs that a mutant asks for.
TEST_P(Mutants, HonestTextsPass) {
  const auto& [kind, mutations] = GetParam();
  if (!testing::kind_selected(kind)) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  if (testing::cases_of(kind).empty()) GTEST_SKIP() << "this machine cannot run " << kind;
  std::set<Knobs> settings;
  for (const Mutation& mutation : mutations) settings.insert(mutation.knobs);
  std::vector<testing::Case> cases;
  for (const testing::Case& c : testing::cases_of(kind))
    for (const Knobs& knobs : settings)
      if (const auto plan = with_knobs_of_kind(c.plan, kind, knobs)) cases.push_back({c.name, c.graph, *plan, c.seed});
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

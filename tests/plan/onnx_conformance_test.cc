// The ONNX project's own cases (tests/graph/onnx_cases.h) through compiled starters: each node of the case's graph its starter
// kernel, run in this process. The outputs must lie within the oracle's derived bounds and within the tolerance of ONNX's own
// runner from the case's expected values.
//
// Every third case and the first of each operator, which takes a minute instead of three; AMDAHL_EXHAUSTIVE=1 tries all of them, as does
// AMDAHL_CONFORMANCE_TABLE=FILE, which writes what came of every case, interpreted and compiled, as Markdown.

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/graph/onnx_cases.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

using testing::Fixed;
using testing::LoadedCase;
using testing::OnnxCase;
using testing::Outcome;

// How a case's outputs come about. kShapes: they are known once the file is loaded (Shape of an input): nothing is left to
// run. kConstants: known too, but only because every input was made a constant: no kernel computes this from data.
enum class Route { kKernels, kShapes, kConstants };

struct Prepared {
  Outcome outcome;
  LoadedCase loaded;
  Plan plan;
  Route route = Route::kKernels;
};

bool is_known(const Graph& graph) {
  return std::all_of(graph.outputs.begin(), graph.outputs.end(), [&](ValueId v) { return graph.is_constant(v); });
}

// As it is in the file, then as `tune` would see it: cleaned up. The first of both that has kernels.
Prepared prepare(const OnnxCase& c, Fixed fixed) {
  Prepared p;
  try {
    p.loaded = testing::load_case(c, fixed, false);
    p.plan = starter_plan(p.loaded.graph, 2, cpu_target());
  } catch (const Error& e) {
    if (e.code() != ExitCode::kUnsupported) throw;
    p.loaded = testing::load_case(c, fixed, true);
    p.plan = starter_plan(p.loaded.graph, 2, cpu_target());
    if (is_known(p.loaded.graph)) p.route = fixed == Fixed::kAll ? Route::kConstants : Route::kShapes;
  }
  return p;
}

Prepared prepare(const OnnxCase& c) {
  Prepared p;
  p.outcome = testing::outcome_of([&] {
    p = testing::with_few_fixed([&](Fixed fixed) { return prepare(c, fixed); });
    return Outcome{};
  });
  return p;
}

Outcome compare_all(const OnnxCase& c, const std::vector<Tensor>& got) {
  Outcome outcome;
  for (size_t i = 0; i < c.outputs.size() && i < got.size(); ++i) {
    outcome = testing::compare_with_expected(RefTensor::of(got[i]), testing::expected_output(c, i));
    if (outcome.verdict != Outcome::kPassed) return outcome;
  }
  return outcome;
}

Outcome run_compiled(const OnnxCase& c, const Prepared& p) {
  return testing::outcome_of([&] {
    std::vector<Tensor> got;
    if (p.route != Route::kKernels) {
      for (ValueId v : p.loaded.graph.outputs) got.push_back(*p.loaded.graph.value(v).constant);
      return compare_all(c, got);
    }
    if (const std::string wrong = check(p.loaded.graph, p.plan); !wrong.empty()) return testing::failed(wrong);
    std::vector<Tensor> inputs;
    for (ValueId v : p.loaded.graph.inputs) inputs.push_back(p.loaded.given.at(v));
    const testing::Judgement j = testing::judge(p.loaded.graph, p.plan, inputs, &got);
    if (!j.within) return testing::failed(j.reason);
    return compare_all(c, got);
  });
}

void compile_ahead(const std::vector<Prepared>& prepared) {
  std::vector<testing::Case> todo;
  for (const Prepared& p : prepared)
    if (p.outcome.verdict == Outcome::kPassed && p.route == Route::kKernels) todo.push_back({"", {}, p.plan, 0});
  testing::compile_ahead(todo);
}

// What came of the cases in one way of running them.
struct Tally {
  int passed = 0, unsupported = 0, failed = 0;
  std::map<std::string, int> reasons;

  void add(const Outcome& o) {
    passed += o.verdict == Outcome::kPassed;
    failed += o.verdict == Outcome::kFailed;
    if (o.verdict != Outcome::kUnsupported) return;
    ++unsupported;
    ++reasons[testing::reason_of(o.reason)];
  }
  std::string row(const std::string& name) const {
    return fmt::format("| {} | {} | {} | {} | {} |\n", name, passed + unsupported + failed, passed, unsupported, failed);
  }
};

struct Report {
  Tally interpreted, compiled;
  int known_from_shapes = 0;
  std::set<std::string> constants_only;                        // operators
  std::map<std::string, std::pair<Tally, Tally>> by_operator;  // cases of one node: interpreted, compiled

  void add(const OnnxCase& c, Route route, const Outcome& in_kernels) {
    const Outcome interpreted_outcome = testing::interpreter_outcome(c);
    interpreted.add(interpreted_outcome);
    compiled.add(in_kernels);
    const bool one_node = c.model.graph().node_size() == 1;
    const std::string op = c.model.graph().node(0).op_type();
    if (in_kernels.verdict == Outcome::kPassed && route == Route::kShapes) ++known_from_shapes;
    if (in_kernels.verdict == Outcome::kPassed && route == Route::kConstants) constants_only.insert(one_node ? op : c.name);
    if (!one_node) return;
    by_operator[op].first.add(interpreted_outcome);
    by_operator[op].second.add(in_kernels);
  }

  std::string text() const {
    std::string out = "| way | cases | passed | unsupported | failed |\n|---|---|---|---|---|\n";
    out += interpreted.row("float64 interpreter") + compiled.row("compiled starters");
    out += fmt::format("\nOf those that pass compiled, {} need no kernel, because their outputs follow from shapes. Only as constants: {}.\n",
                       known_from_shapes, fmt::join(constants_only, ", "));
    for (const auto& [way, tally] : {std::pair{"interpreter", &interpreted}, std::pair{"compiled starters", &compiled}}) {
      out += fmt::format("\nUnsupported, {}:\n\n| cases | reason |\n|---|---|\n", way);
      for (const auto& [reason, count] : tally->reasons) out += fmt::format("| {} | {} |\n", count, reason);
    }
    out += "\nCases of one node, by operator (passed / unsupported / failed):\n\n| operator | interpreter | compiled |\n|---|---|---|\n";
    for (const auto& [op, ways] : by_operator) {
      const auto& [i, k] = ways;
      out += fmt::format("| {} | {} / {} / {} | {} / {} / {} |\n", op, i.passed, i.unsupported, i.failed, k.passed, k.unsupported, k.failed);
    }
    return out;
  }
};

std::vector<OnnxCase> cases_to_compile() {
  std::vector<OnnxCase> all = testing::onnx_cases();
  if (std::getenv("AMDAHL_EXHAUSTIVE") || std::getenv("AMDAHL_CONFORMANCE_TABLE")) return all;
  std::vector<OnnxCase> some;
  std::set<std::string> seen;
  for (size_t i = 0; i < all.size(); ++i)
    if (seen.insert(all[i].model.graph().node(0).op_type()).second || i % 3 == 0) some.push_back(std::move(all[i]));
  return some;
}

TEST(OnnxConformance, CompiledStartersAgree) {
  const std::vector<OnnxCase> cases = cases_to_compile();
  if (cases.empty()) GTEST_SKIP() << "install libonnx-testdata to run ONNX's operator cases (" << testing::kOnnxData << ")";
  std::vector<Prepared> prepared;
  for (const OnnxCase& c : cases) prepared.push_back(prepare(c));
  compile_ahead(prepared);
  Report report;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Outcome outcome = prepared[i].outcome.verdict == Outcome::kPassed ? run_compiled(cases[i], prepared[i]) : prepared[i].outcome;
    EXPECT_NE(outcome.verdict, Outcome::kFailed) << cases[i].group << "/" << cases[i].name << ": " << outcome.reason;
    report.add(cases[i], prepared[i].route, outcome);
  }
  std::printf("%d cases pass compiled, %d are unsupported; only as constants: %s\n", report.compiled.passed, report.compiled.unsupported,
              fmt::format("{}", fmt::join(report.constants_only, ", ")).c_str());
  if (const char* table = std::getenv("AMDAHL_CONFORMANCE_TABLE")) {
    std::ofstream out(table);
    out << report.text();
    EXPECT_TRUE(out.flush()) << "cannot write " << table << ": set AMDAHL_CONFORMANCE_TABLE to a file that can be written";
  }
}

}  // namespace
}  // namespace amdahl

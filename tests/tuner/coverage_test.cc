// On which draws each kernel kind is judged: all of them, over its examples, but for those of which the oracle itself says that they prove little there. A draw on
// which a starter leaves the oracle's bounds is a defect of one of the two, never a reason to go without.
//
// AMDAHL_DRAWS_SEED=7 draws other numbers than every run does; AMDAHL_KINDS=matmul,conv narrows the run; AMDAHL_COVERAGE_TABLE=FILE writes what came of it, as Markdown.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "graph/clean_up/clean_up_passes.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tests/plan/kernel_bench.h"
#include "tuner/trials/builder.h"
#include "tuner/validation/input_ranges.h"
#include "tuner/validation/validate.h"

namespace amdahl {
namespace {

Builder& builder() {
  static Builder instance(std::make_shared<const CpuToolchain>(default_cache_dir()), 2, nullptr);
  return instance;
}

uint64_t draws_seed() {
  const char* seed = std::getenv("AMDAHL_DRAWS_SEED");
  return seed && *seed ? std::strtoull(seed, nullptr, 10) : 1;
}

// All of the example as one window, judged as a session judges it.
ValidationSpec judge_of(const Graph& graph, int threads = 2) {
  const Plan plan = starter_plan(graph, threads, cpu_target());
  Window all;
  for (size_t s = 0; s < plan.steps.size(); ++s) all.steps.push_back(static_cast<int>(s));
  const WindowIo io = io_of(graph, plan, all);
  const BuildResult built = builder().build({plan.steps})[0];
  if (!built.ok) throw std::runtime_error("the starter does not compile: " + built.message);
  Blob blob;
  ConstantsFile constants(graph);
  Program program = window_program(graph, io, plan.steps, built.libraries, threads, &blob);
  constants.adopt(program, blob);
  const std::vector<InputRange> ranges = input_ranges(graph, distinct_inputs(io));
  WorkerOptions options;
  options.threads = threads;
  InputSource input_source(ranges, options.backend->make_arena("amdahl-inputs"));
  RemoteProgram remote(options, program, input_source, constants);
  GivenValues given;
  return make_validation_spec(signature(graph, plan, all), ranges, Work{}, remote, draws_seed(), [&](const Draw& draw) {
    return std::make_shared<const Expected>(expected_outputs(graph, io, program, draw, ranges, {}, given));
  });
}

std::string description(const Draw& draw) {
  std::string text(name_of(draw.distribution));
  if (draw.ternary) text += draw.roles_swapped ? ", integer weights" : ", ternary weights";
  if (draw.weights != Weights::kNormal) text += fmt::format(", {} weights", name_of(draw.weights));
  return text;
}

struct Row {
  std::map<std::string, int> used;                        // by draw: examples judged by it
  std::map<std::string, std::set<std::string>> not_used;  // … and why it says nothing about others
};

class CoverageTable : public ::testing::Environment {
 public:
  static Row& of(const std::string& kind) { return rows_[kind]; }
  void TearDown() override {
    const char* path = std::getenv("AMDAHL_COVERAGE_TABLE");
    if (!path || !*path) return;
    std::ofstream out(path);
    out << "| kernel kind | draw | examples judged | left out |\n|---|---|---|---|\n";
    for (const auto& [kind, row] : rows_)
      for (const auto& [draw, used] : row.used) out << fmt::format("| {} | {} | {} | {} |\n", kind, draw, used, reasons(row, draw));
    EXPECT_TRUE(out.flush()) << "cannot write " << path << ": set AMDAHL_COVERAGE_TABLE to a file that can be written";
  }

 private:
  static std::string reasons(const Row& row, const std::string& draw) {
    const auto at = row.not_used.find(draw);
    std::string text;
    if (at != row.not_used.end())
      for (const std::string& reason : at->second) text += (text.empty() ? "" : "; ") + reason;
    return text;
  }
  static inline std::map<std::string, Row> rows_;
};
[[maybe_unused]] const auto* const kTable = ::testing::AddGlobalTestEnvironment(new CoverageTable);

class Coverage : public ::testing::TestWithParam<const KernelKind*> {};

TEST_P(Coverage, NoStarterLeavesTheBoundsOnAnyDraw) {
  const KernelKind& kind = *GetParam();
  if (!testing::kind_selected(kind.name())) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  Row& row = CoverageTable::of(std::string(kind.name()));
  for (Graph graph : kind.examples()) {
    drop_unused(graph);  // as a model that is loaded: what no kernel reads is nobody's operand
    const ValidationSpec spec = judge_of(graph);
    for (const Check& check : spec.checks) ++row.used[description(check.draw)];
    for (const LeftOut& left : spec.left_out) {
      row.used[description(left.draw)];
      row.not_used[description(left.draw)].insert(left.starter_is_wrong ? fmt::format("**{}: {}**", graph.name, left.reason)
                                                                        : fmt::format("{}: {}", graph.name, left.reason));
      EXPECT_FALSE(left.starter_is_wrong) << graph.name << " [" << name_of(graph.value(graph.inputs[0]).dtype) << "]"
                                          << " on " << description(left.draw) << ": " << left.reason;
    }
  }
}

// Teams of two, and calls from inside a team, are asked of kernels of one thread too: their worker has begun no other when it is sealed.
TEST(JudgeOfOneThread, TriesLargerTeams) {
  for (const char* kind : {"matmul", "softmax", "pointwise"}) {
    Graph graph = kernel_kind(kind).examples().at(0);
    drop_unused(graph);
    const ValidationSpec spec = judge_of(graph, 1);
    EXPECT_EQ(spec.unusable, "") << kind;
    EXPECT_FALSE(spec.checks.empty()) << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Coverage, ::testing::ValuesIn(kernel_kinds()), [](const auto& info) { return std::string(info.param->name()); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Coverage);

}  // namespace
}  // namespace amdahl

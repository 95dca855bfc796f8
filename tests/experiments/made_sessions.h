#pragma once
// Sessions that no run made, for tests of what is shown of them.

#include <cmath>

#include "experiments/session.h"
#include "plan/plan.h"

namespace amdahl {

inline Step softmax_step(int64_t rows) {
  Step step;
  step.variant.problem.kind = "softmax";
  step.variant.problem.in = step.variant.problem.out = {Access::dense(DType::kF32, {rows, 64})};
  step.variant.source_override = "// softmax of " + std::to_string(rows) + "\nshared line\n";
  return step;
}

inline Experiment made_experiment(int64_t id, Outcome outcome) {
  Experiment e;
  e.id = id;
  e.outcome = outcome;
  e.rewrite = id % 2 ? "pack_constant_weights" : "use_avx512";
  e.tier = static_cast<int>(id % 6) + 1;
  e.window = "softmax [" + std::to_string(id) + ", 64]";
  e.plan = 1;
  e.steps = {0};
  e.share = 0.1;
  e.occurrences = 12;
  e.seconds = {0.2, 0.3, 0.1, 0, 0};
  e.knobs = {{"MR", 6}, {"KC", 256}};
  e.replacement = Json::array({softmax_step(id)});
  if (outcome >= Outcome::kBuildFailed) {
    e.stage = "numerics";
    e.code = "less-precise";
    e.reason = "rms error 2.3e-07, the starter's is 1.2e-07";
    return e;
  }
  e.stage = "race";
  e.incumbent_seconds = 0.002;
  e.challenger_seconds = 0.0021;
  e.race_log_ratio = -0.05 + 0.001 * static_cast<double>(id % 40);
  if (outcome != Outcome::kKept) return e;
  e.stage = "confirm";
  e.prove_log_ratios = {0.20, 0.21, 0.19};
  e.confirm_log_ratios = {0.18, 0.20, 0.22};
  e.dropped_log_ratios = {0.4};
  e.gain = {0.20, 0.18, 0.22, 3};
  return e;
}

// `experiments` of them: each 50th kept, each 7th a failure. One row of the ledger, two profiles, a headline, a step with a bound of its own.
inline MemoryStore made_session(int64_t experiments) {
  MemoryStore store;
  Commit c;
  for (int64_t id = 1; id <= experiments; ++id)
    c.experiments.push_back(made_experiment(id, id % 50 == 0 ? Outcome::kKept : id % 7 == 0 ? Outcome::kWrong : Outcome::kReverted));
  LedgerEntry row;
  row.id = 1;
  row.experiments = {50};
  row.predicted = 0.02;
  row.measured = {0.018, 0.010, 0.030, 6};
  row.before_seconds = 0.2;
  row.after_seconds = 0.196;
  row.kept = true;
  row.reason = "+1.8% measured";
  row.error = 7e-7;
  c.ledger = {row};
  Plan plan;
  plan.steps = {softmax_step(8), softmax_step(16)};
  declare_algorithm(plan.steps[1].variant.problem, "strassen");
  for (int64_t id : {1, 2}) {
    PlanRecord record;
    record.id = id;
    record.plan = plan;
    c.plans.push_back(record);
  }
  c.profiles = {{1, 1, 0.2, {0.12, 0.07}, {0.03, 0.02}}, {2, 2, 0.15, {0.09, 0.05}, {0.03, 0.02}}};
  c.headline = Headline{2, {0.25, 0.24, 0.27, 12}, 0.2, 0.156};
  c.options = Json{{"threads", 2}, {"seed", 1}};
  store.commit(c);
  return store;
}

// Ours and three others, of which the fastest rounds to bfloat16.
inline std::vector<ComparedArm> made_comparison(int64_t comparison) {
  const auto arm = [&](int64_t number, const char* name, const char* title, const char* version, double seconds) {
    ComparedArm row;
    row.id = 4 * comparison + number;
    row.comparison = comparison;
    row.made_at = 1795255320 + comparison;
    row.arm = name;
    row.title = title;
    row.version = version;
    row.threads = 2;
    row.seconds = seconds;
    row.round_seconds = {seconds, seconds, seconds};
    row.over_ours = {std::log(seconds / 0.010), std::log(seconds / 0.0104), std::log(seconds / 0.0096), 3};
    return row;
  };
  std::vector<ComparedArm> rows{arm(0, "tuned", "ours", "", 0.010), arm(1, "onnxruntime", "ONNX Runtime", "1.20.1", 0.012),
                                arm(2, "openvino f32", "OpenVINO", "2026.1", 0.008), arm(3, "openvino bf16", "OpenVINO", "2026.1", 0.005)};
  rows[0].ours = true;
  rows[0].form = "the kept plan";
  rows[0].plan = 2;
  rows[3].precision = "bf16";
  return rows;
}

inline SessionIdentity made_identity() {
  SessionIdentity id;
  id.model = "builtin:gpt2-mini";
  id.machine = "A machine, 2 cores";
  id.created_at = 1795257759;
  return id;
}

inline std::string text_of(const Variant& v) { return v.source_override; }

}  // namespace amdahl

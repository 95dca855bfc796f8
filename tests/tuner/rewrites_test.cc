// Every rewrite of the playbook, wherever it matches on the small shipped models, before and after the fusions: the plan stays
// whole, and what it makes passes the five stages as a candidate would.

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "base/random.h"
#include "graph/builders.h"
#include "tuner/opportunity.h"
#include "tuner/searcher.h"
#include "tuner/window_bench.h"

namespace amdahl {
namespace {

constexpr int kThreads = 2;
constexpr int kWindowsAPlan = 2, kCandidates = 2;  // of each rewrite: the first form and one with other knobs

// One candidate's end: "" or what the judge said.
class Bench {
 public:
  explicit Bench(const Graph& graph) : graph_(graph), builder_(std::make_shared<const Toolchain>(default_cache_dir()), kThreads, nullptr) {
    BenchOptions options;
    options.worker.threads = kThreads;
    options.race_seconds = 0.004;
    bench_ = std::make_unique<WindowBench>(graph_, builder_, options);
  }

  // "" or why nothing can be judged here.
  std::string enter(const Plan& plan, const Window& window) {
    WindowTask task;
    task.signature = signature(graph_, plan, window);
    task.io = io_of(graph_, plan, window);
    task.threads = kThreads;
    for (int s : window.steps) task.incumbent.push_back(plan.steps[static_cast<size_t>(s)]);
    return bench_->enter(task);
  }
  std::string judge(const std::vector<Step>& steps) {
    const Built built = builder_.build({steps})[0];
    if (!built.ok) return "build: " + built.message;
    const Screened s = bench_->screen(steps, built, -std::numeric_limits<double>::infinity());
    return s.failure ? s.failure->stage + ": " + s.failure->reason : "";
  }

 private:
  const Graph& graph_;
  Builder builder_;
  std::unique_ptr<WindowBench> bench_;
};

Profile no_profile(const Plan& plan) {
  Profile p;
  p.steps.resize(plan.steps.size());
  return p;
}

std::vector<Opportunity> opportunities(const Graph& graph, const Plan& plan, const std::vector<const Rewrite*>& rewrites) {
  return find_opportunities(graph, plan, no_profile(plan), rewrites, this_machine());
}

// All fusions and layouts, everywhere, in playbook order, until none matches; and one matrix product as a search may leave it.
Plan fused(const Graph& graph, Plan plan) {
  std::vector<const Rewrite*> structural;
  for (const Rewrite* r : playbook())
    if (r->structural() && r->name().find("winograd") == std::string_view::npos && r->name() != "use_direct_conv" && r->name() != "use_implicit_gemm")
      structural.push_back(r);
  for (int round = 0; round < 12; ++round) {
    bool changed = false;
    for (const Rewrite* r : structural)
      for (const Opportunity& o : opportunities(graph, plan, {r})) {
        int applied = 0;
        Plan next;
        try {
          next = apply_everywhere(graph, plan, o.windows, o.match.replacement, &applied);
        } catch (const std::exception&) {
          continue;  // an earlier opportunity of this round changed its window
        }
        if (applied == 0) continue;
        EXPECT_EQ(check(graph, next), "") << r->name();
        plan = std::move(next);
        changed = true;
        break;  // windows have moved
      }
    if (!changed) break;
  }
  for (Step& step : plan.steps)
    if (step.variant.problem.kind == "matmul") {
      step.variant.flags.push_back("-funroll-loops");
      break;
    }
  return plan;
}

class Rewrites {
 public:
  // Candidates of `rewrites` on this plan, judged.
  void walk(const Graph& graph, const Plan& plan, const std::vector<const Rewrite*>& rewrites, int windows) {
    Bench bench(graph);
    std::map<const Rewrite*, int> tried;
    for (const Opportunity& o : opportunities(graph, plan, rewrites)) {
      if (tried[o.rewrite] == windows) continue;
      const std::string unusable = bench.enter(plan, o.match.window);
      if (!unusable.empty()) continue;
      ++tried[o.rewrite];
      int applied = 0;
      const Plan next = apply_everywhere(graph, plan, o.windows, o.match.replacement, &applied);
      EXPECT_GT(applied, 0) << o.rewrite->name() << " on " << o.describe(plan);
      EXPECT_EQ(check(graph, next), "") << o.rewrite->name() << " on " << o.describe(plan);
      Random random(1);
      for (const Proposal& p : propose(o.match, [](const std::vector<Step>& s) { return s; }, this_machine(), {}, kCandidates, random)) {
        const std::string verdict = bench.judge(p.steps);
        // Winograd's error grows with its tile; where the judge finds it too large the rewrite has no candidate.
        const bool too_inexact = o.rewrite->name().find("winograd") != std::string_view::npos && verdict.find("rms error") != std::string::npos;
        if (verdict.empty()) ++passed[o.rewrite];
        else EXPECT_TRUE(too_inexact) << o.rewrite->name() << " on " << o.describe(plan) << " of " << graph.name << " " << Json(p.knobs).dump() << ": " << verdict;
      }
    }
  }
  std::vector<const Rewrite*> missing() const {
    std::vector<const Rewrite*> list;
    for (const Rewrite* r : playbook())
      if (!passed.count(r)) list.push_back(r);
    return list;
  }

  std::map<const Rewrite*, int> passed;  // candidates
};

TEST(Rewrites, EveryOneOfThePlaybookPassesTheJudge) {
  Rewrites rewrites;
  for (const ShippedModel& model : shipped_models()) {
    if (model.name.find("-mini") == std::string_view::npos) continue;
    const Graph graph = model.build({});
    const Plan starter = starter_plan(graph, kThreads);
    rewrites.walk(graph, starter, playbook(), kWindowsAPlan);
    rewrites.walk(graph, fused(graph, starter), playbook(), kWindowsAPlan);
  }
  // What no shipped model has: the examples of the kernel kinds.
  for (const KernelKind* kind : kernel_kinds())
    for (const Graph& graph : kind->examples()) {
      const std::vector<const Rewrite*> missing = rewrites.missing();
      if (missing.empty()) break;
      if (graph.inputs.empty()) continue;
      rewrites.walk(graph, starter_plan(graph, kThreads), missing, 1);
    }
  for (const Rewrite* r : playbook()) {
    EXPECT_GT(rewrites.passed[r], 0) << r->name() << " has no candidate anywhere that the judge accepts";
    std::printf("%-26s %d candidates passed\n", std::string(r->name()).c_str(), rewrites.passed[r]);
  }
}

}  // namespace
}  // namespace amdahl

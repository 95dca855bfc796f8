#pragma once
// A rewrite looks at the plan around one step and offers to compute the same nodes another way. Changing a tile size is a
// window of one step; fusing or carrying a layout is many to one or many to many. The playbook is the ordered list.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "playbook/odds.h"

namespace amdahl {

struct RewriteContext {
  const Graph& graph;
  const Plan& plan;
  const Target& target;
  const Uses& uses;
  const std::vector<ValueId>& storage;  // storage_of(graph)
  // reader[operand] / writer: indices of the plan's steps.
  std::map<Operand, std::vector<int>> readers;
  std::map<Operand, int> writer;
  std::map<std::string, std::vector<int>> tuned;  // by kind: steps that no longer stand as they started
  // Results of steps that took in the model as long as memory needs for what they move: no cache held it. Empty where nothing was measured.
  std::set<Operand> out_of_cache{};

  static RewriteContext of(const Graph& graph, const Plan& plan, const Target& target, const Uses& uses, const std::vector<ValueId>& storage);
  bool is_graph_output(const Operand& operand) const;
  // The only step that reads the only output of `step`, or -1 (several readers, graph output, several outputs).
  int sole_consumer(int step) const;
};

struct Match {
  Window window;
  std::vector<Step> replacement;
  // Knobs that this rewrite opens, with the values to try: the searcher varies them on replacement[step]. Empty: one
  // candidate, as it stands.
  struct OpenKnob {
    int step = 0;
    std::string name;
    std::vector<int64_t> values;
  };
  std::vector<OpenKnob> search;
  // First forms too, tried beside `replacement`: the same as it started, where that begins as its like was tuned (tuned_donor.h); another algorithm.
  std::vector<std::vector<Step>> others{};
};

class Rewrite {
 public:
  virtual ~Rewrite() = default;
  virtual int tier() const = 0;                 // 1 … 6
  virtual std::string_view name() const = 0;    // verb_object, as the file
  virtual std::string_view target() const = 0;  // kinds it applies to, for `amdahl playbook`
  virtual std::string_view precondition() const = 0;
  // The window anchored at step `anchor`, or nullopt with the reason in *refusal (may be null). Deterministic: the same plan gives the
  // same match. `replacement` computes exactly the window's outputs, by kinds that the target computes; correctness is for validation to judge.
  std::optional<Match> match(const RewriteContext& context, int anchor, std::string* refusal) const;
  // The only backend whose texts it knows; "" where it speaks of kinds and of knobs that a text may have or not.
  virtual std::string_view backend() const { return ""; }
  // What the user must have allowed: "" nothing, "bf16" products of numbers rounded to bfloat16.
  virtual std::string_view wants_allowed() const { return ""; }
  // Rounds more than what is allowed without it: offered only where the model's outputs stay within the user's limit with it everywhere.
  virtual bool costs_accuracy() const { return false; }
  // A changed shape of the computation (fusion, layout, algorithm): judged by the best of a small search over its knobs.
  virtual bool structural() const { return false; }
  // What it offers begins with kernels of its own: until it has been tried, tuning the present ones in its window is likely lost.
  virtual bool brings_kernels() const { return false; }
  // Chance that its best form wins where it matches, and the share of its window's time that a win takes, before a session knows better.
  virtual Odds odds(std::string_view backend) const { return odds_of(name(), structural(), backend); }

 private:
  // As match(), whatever the target computes.
  virtual std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const = 0;
};

// In playbook order (order is a prior, not a fence).
const std::vector<const Rewrite*>& playbook();
const Rewrite* find_rewrite(std::string_view name);

}  // namespace amdahl

// amdahl playbook [MODEL]: the rewrites, and where they apply to a model's starter plan or why not.

#include "playbook/playbook.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/counted.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/print_json.h"
#include "plan/require_memory.h"
#include "playbook/first_plan.h"

namespace amdahl {
namespace {

const char* title_of(int tier) {
  constexpr const char* titles[] = {"blocking", "memory access", "compute", "advanced", "architecture", "kernel tricks"};
  return tier >= 1 && tier <= 6 ? titles[tier - 1] : "other";
}

// Where a rewrite matches, and the most frequent reason where it does not.
struct RewriteMatches {
  int matches = 0, anchors = 0;
  std::string refusal;
};

RewriteMatches applies_to(const Rewrite& rewrite, const RewriteContext& context) {
  RewriteMatches result;
  if (context.plan.steps.empty()) result.refusal = "the plan has no step, as all outputs are inputs or constants";
  std::map<std::string, int> refusals;
  for (size_t i = 0; i < context.plan.steps.size(); ++i) {
    std::string refusal;
    ++result.anchors;
    if (rewrite.match(context, static_cast<int>(i), &refusal)) ++result.matches;
    else ++refusals[refusal];
  }
  const auto most = std::max_element(refusals.begin(), refusals.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != refusals.end()) result.refusal = most->first;
  return result;
}

void print_rewrites(const std::map<const Rewrite*, RewriteMatches>& applies) {
  int tier = 0;
  for (const Rewrite* rewrite : playbook()) {
    if (rewrite->tier() != tier) {
      tier = rewrite->tier();
      fmt::print("{}tier {}: {}\n", rewrite == playbook().front() ? "" : "\n", tier, title_of(tier));
    }
    fmt::print("  {}\n      for {}; needs {}\n", rewrite->name(), rewrite->target(), rewrite->precondition());
    const auto it = applies.find(rewrite);
    if (it == applies.end()) continue;
    if (it->second.matches) fmt::print("      applies at {} of {}\n", it->second.matches, counted(it->second.anchors, "step"));
    else fmt::print("      applies nowhere: {}\n", it->second.refusal);
  }
}

std::optional<ModelArguments> read(const po::variables_map& values) { return values.count("model") ? std::optional(read_model(values)) : std::nullopt; }

int run(const std::optional<ModelArguments>& model, const GlobalOptions& global) {
  std::map<const Rewrite*, RewriteMatches> applies;
  if (model) {
    const Graph graph = load_named_model(*model, global);
    const Plan plan = first_plan(graph, global.threads, global.backend->target());
    require_memory(graph, plan);
    const Uses uses = uses_of(graph);
    const std::vector<ValueId> storage = storage_of(graph);
    const RewriteContext context = RewriteContext::of(graph, plan, global.backend->target(), uses, storage);
    for (const Rewrite* rewrite : playbook()) applies[rewrite] = applies_to(*rewrite, context);
  }
  if (!global.json) {
    print_rewrites(applies);
    return 0;
  }
  nlohmann::json j = nlohmann::json::array();
  for (const Rewrite* rewrite : playbook()) {
    j.push_back({{"tier", rewrite->tier()},
                 {"name", rewrite->name()},
                 {"target", rewrite->target()},
                 {"precondition", rewrite->precondition()},
                 {"structural", rewrite->structural()}});
    if (const auto it = applies.find(rewrite); it != applies.end())
      j.back()["applies"] = {{"matches", it->second.matches}, {"steps", it->second.anchors}, {"refusal", it->second.refusal}};
  }
  print_json(j);
  return 0;
}

}  // namespace

const Command kPlaybookCommand{"playbook",
                               "[MODEL] [options]",
                               "the rewrites, by tier; with a MODEL, where they apply and why not",
                               "The order is a prior: what is tried first. Applicability is that of the starter plan.",
                               declare_model,
                               [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

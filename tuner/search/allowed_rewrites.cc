#include "tuner/search/allowed_rewrites.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/search/applied_everywhere.h"
#include "tuner/search/seeds.h"

namespace amdahl {
namespace {

std::string declared_by(const Step& step) { return declared_algorithm(step.variant.problem); }

}  // namespace

AllowedRewrites::AllowedRewrites(const TuneContext& context) : context_(context) {
  for (const Rewrite* r : context.rewrites)
    if (context.options.allows(*r)) rewrites_.push_back(r);
}

void AllowedRewrites::leave_out_what_rounds_too_much(const Plan& starter, ProgressReporter& progress) {
  const Graph& graph = context_.graph;
  const Target& target = context_.runner.target();
  std::vector<const Rewrite*> permitted;  // what the user's permission is for
  for (const Rewrite* r : rewrites_)
    if (!r->wants_allowed().empty() && !r->costs_accuracy()) permitted.push_back(r);
  const Plan without = applied_everywhere(graph, starter, permitted, target);
  Draw inputs;
  inputs.seed = judged_random(context_.options, 0, 0xa110).next() >> 1;
  std::erase_if(rewrites_, [&](const Rewrite* r) {
    if (!r->costs_accuracy()) return false;
    const Plan everywhere = applied_everywhere(graph, without, {r}, target);
    if (Json(everywhere) == Json(without)) return true;
    progress.say(fmt::format("asking the model what {} everywhere costs", r->name()));
    if (!is_too_rough(everywhere, inputs)) return false;
    for (const Step& s : everywhere.steps) too_rough_.insert(declared_by(s));
    return true;
  });
  for (const Step& s : without.steps) too_rough_.erase(declared_by(s));
}

bool AllowedRewrites::is_too_rough(const Plan& everywhere, const Draw& inputs) const {
  const ModelCheck check = context_.runner.check_model(everywhere, inputs);
  const bool within = !check.failure && check.error <= context_.options.gate().limit(0);  // an error that is no number is not
  return !within;
}

bool AllowedRewrites::rounds_too_much(const std::vector<Step>& form) const {
  return std::any_of(form.begin(), form.end(), [&](const Step& s) { return too_rough_.count(declared_by(s)) > 0; });
}

}  // namespace amdahl

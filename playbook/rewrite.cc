#include "playbook/rewrite.h"

#include <fmt/format.h>

namespace amdahl {

std::optional<Match> Rewrite::match(const RewriteContext& context, int anchor, std::string* refusal) const {
  const auto refuse = [&](std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  };
  if (!backend().empty() && backend() != context.target.backend) return refuse(fmt::format("for the backend {}", backend()));
  std::optional<Match> match = offer(context, anchor, refusal);
  if (!match) return std::nullopt;
  for (const Step& step : match->replacement)
    if (const std::string& kind = step.variant.problem.kind; !context.target.computes(kind)) return refuse(context.target.lacks(kind));
  return match;
}

}  // namespace amdahl

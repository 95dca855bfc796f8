#pragma once
// Moving pointwise steps into their neighbours: into readers (another pointwise step, or the prologue of a kind that has one)
// and into producers (as the epilogue of a kind that has one).

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace amdahl {

// Two index spaces look at one tensor: `view` (over space B) and `target` (over space A). `operand` (over B) is another tensor
// that B's points read or write. The result is `operand` over A: at every point of A, the place that belongs to B's point
// looking at the same element. nullopt when B does not see each element once, or no strides over A express it.
std::optional<Access> carry_over(const Access& view, const Access& operand, const Access& target);

// A scalar program with the tensors that its inputs are read from.
struct Expression {
  PointwiseProgram program;
  std::vector<Operand> from;
  std::vector<Access> access;
};
// Of a step whose kind has one (Traits).
Expression expression_of(const Step& step);
void set_expression(Step& step, Expression expression);

// Equal inputs become one, equal operations are computed once, what no result needs is dropped.
void simplify(Expression& expression);

// `reader` with the pointwise step `producer` computed at its input instead of being read. Refuses where that would compute
// elements more than once.
std::optional<Step> absorb_producer(const Step& reader, const Step& producer, std::string* refusal);

// `producer` with the pointwise step `consumer` as (the end of) its epilogue.
std::optional<Step> absorb_consumer(const Step& producer, const Step& consumer, std::string* refusal);

}  // namespace amdahl

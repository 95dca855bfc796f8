#pragma once
// What a window's outputs should be, by the float64 oracle, and how far a candidate's are from it.

#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "graph/oracle.h"
#include "plan/program.h"
#include "tuner/validation/inputs.h"

namespace amdahl {

size_t output_bytes(const Program& program);

// Floats, rounded to Real, the rounding added to the bound; exact comparisons have bound 0. A bound that is not finite
// judges nothing, but that what should be infinite is not finite either.
template <typename Real>
struct BoundedFloats {
  std::vector<Real> value, bound;
};

struct ExpectedOutput {
  DType dtype = DType::kF32;
  Shape shape;
  std::variant<BoundedFloats<float>, BoundedFloats<double>> floats;  // doubles of f64 alone: outputs of millions of elements are kept
  bool zero_signs = false;                                           // a zero with bound 0 has that sign (graph/zero_signs.h)
  std::vector<int64_t> ints;
  std::vector<double> int_bound;  // empty: exact. How far integers may be off that floats decided; infinite: anything

  double value_at(size_t i) const {
    return std::visit([=](const auto& f) { return static_cast<double>(f.value[i]); }, floats);
  }
};

struct Expected {
  std::vector<ExpectedOutput> outputs;
  double judged = 0;   // share of elements with a finite bound, or that are not finite
  double nonzero = 0;  // share of elements that are not 0
  bool exact = false;  // all values are integers below 2^24: sums of integers, fp32 has no excuse
  size_t bytes() const;
};

// A window's values as last given to the oracle. References of other inputs keep its weights: to draw those of 768 x 50257 again each time, in doubles, was
// a fifth of judging that window.
class GivenValues {
 public:
  const RefValues& of(const Graph& graph, const WindowIo& io, const Program& program, const Draw& draw, const std::vector<InputRange>& ranges);
  // Weights as drawn; `inputs` in the order of Program::Buffer::source.
  const RefValues& of(const WindowIo& io, const Program& program, const Draw& weights, const std::vector<Tensor>& inputs);

 private:
  void take_weights(const WindowIo& io, const Program& program, const Draw& draw);

  std::string weights_;  // of which window, and how drawn
  RefValues values_;
};

// `subject`: a program of the window (its seeded constants state mean and deviation). `products`: as in EvalContext.
Expected expected_outputs(const Graph& graph, const WindowIo& io, const Program& program, const Draw& draw, const std::vector<InputRange>& ranges,
                          const ProductArithmetic& products, GivenValues& given);
Expected expected_outputs(const Graph& graph, const WindowIo& io, const RefValues& given, const ProductArithmetic& products);

struct Discrepancy {
  bool within = true;
  std::string message;                                                               // first offender
  bool sign_of_zero = false;                                                         // all that is wrong with it
  double max_error = 0, rms_error = 0, rms_value = 0, rms_bound = 0, max_bound = 0;  // over judged elements
  // How many elements decide the errors: as many as if all had one bound, fewer where a few are far larger than the others (Kish's effective size of
  // a sample, of the squares of the bounds).
  double deciding = 1;
};

// `outputs`: as stored, in the order of program.outputs. NaN must meet NaN, infinities their like.
Discrepancy compare(const Expected& expected, const Program& program, std::span<const std::byte> outputs);

// Outputs of two programs of one window on the same inputs: how many elements of each output differ by more than
// `tolerance` and a thousandth (integers: at all). NaN equals NaN.
std::vector<int64_t> count_different(const Program& a_program, std::span<const std::byte> a, const Program& b_program, std::span<const std::byte> b,
                                     double tolerance);
// Of all elements of the outputs.
double share_of_elements(const Program& program, const std::vector<int64_t>& counts);

// Of the finite elements of the floats among the outputs.
double root_mean_square(const Program& program, std::span<const std::byte> outputs);

// In the order of Program::Buffer::source.
std::vector<ValueId> distinct_inputs(const WindowIo& io);

}  // namespace amdahl

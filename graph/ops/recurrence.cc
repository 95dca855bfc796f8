// LSTM, GRU and RNN: X W' and h R' of every step are one sum of a gate, whose bound is that of sums; what a step is off by goes into the next as
// carried_error.h says.

#include "graph/ops/recurrence.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/carried_error.h"
#include "graph/ops/families.h"
#include "graph/ops/recurrent_activations.h"

namespace amdahl {
namespace {

using Cell = RecurrenceForm::Cell;
using Form = RecurrenceForm;

void require_shape(const InferContext& c, size_t i, const char* name, const Shape& shape) {
  if (c.shape(i) != shape) throw Refusal(fmt::format("{} is {}, it must be {}", name, to_string(c.shape(i)), to_string(shape)));
}

void infer_recurrence(InferContext& c) {
  for (const size_t i : {Form::kX, Form::kW, Form::kR, Form::kB, Form::kInitialH, Form::kInitialC, Form::kP})
    if (c.has_input(i)) require_float(c, i);
  const Form f(c.node, c.shape(Form::kX), c.shape(Form::kR));
  const int64_t d = f.directions(), rows = f.gates * f.hidden;
  require_shape(c, Form::kW, "W", {d, rows, f.input});
  require_shape(c, Form::kR, "R", {d, rows, f.hidden});
  if (c.has_input(Form::kB)) require_shape(c, Form::kB, "B", {d, 2 * rows});
  if (c.has_input(Form::kLengths)) require_shape(c, Form::kLengths, "sequence_lens", {f.batch});
  if (c.has_input(Form::kInitialH)) require_shape(c, Form::kInitialH, "initial_h", f.state_shape());
  if (c.has_input(Form::kInitialC)) require_shape(c, Form::kInitialC, "initial_c", f.state_shape());
  if (c.has_input(Form::kP)) require_shape(c, Form::kP, "P", {d, 3 * f.hidden});
  c.set_output(0, c.dtype(0), f.sequence_shape());
  for (size_t i = 1; i < c.node.outputs.size(); ++i) c.set_output(i, c.dtype(0), f.state_shape());
}

bool is_wanted(const EvalContext& c, size_t output) { return output < c.node.outputs.size() && c.node.outputs[output] != kNoValue; }

// Rows of R that gates from `first` on have, as what multiplies a state from the right.
struct Right {
  int64_t columns = 0;
  std::vector<double> value, magnitude, bound;

  Right(const RefTensor& r, int64_t direction, const Form& f, int64_t first, int64_t gates) : columns(gates * f.hidden) {
    const auto part = [&](const std::vector<double>& x) -> std::vector<double> {
      if (x.empty()) return {};
      const auto from = static_cast<size_t>((direction * f.gates + first) * f.hidden * f.hidden);
      return transposed(std::span(x).subspan(from, static_cast<size_t>(columns * f.hidden)), columns, f.hidden);
    };
    value = magnitude = part(r.value);
    bound = part(r.bound);
    for (double& m : magnitude) m = std::isfinite(m) ? std::fabs(m) : 0.0;
  }
};

bool is_one_number(const RefTensor& t) {
  return std::ranges::all_of(t.value, [&](double v) { return v == t.value[0]; });
}

// One direction of a node. State and gates are of one step, [batch, units] and [batch, gates * units].
class Direction {
 public:
  Direction(EvalContext& c, const Form& f, int64_t d)
      : c_(c), f_(f), d_(d), m_(c.in(0).dtype, c.bounds), h_(static_cast<size_t>(f.batch * f.hidden)), cell_(h_.size()), next_(h_) {
    // Equal terms round alike (eval_support.h).
    const int64_t terms = f.input + f.hidden + 4;
    const bool equal = is_one_number(c.in(Form::kW)) && is_one_number(c.in(Form::kR));
    const double g = equal ? static_cast<double>(terms + 4) * m_.sums().u : dot_growth(terms, m_.sums().u), r = c.products.rounding;
    growth_ = (1 + g) * (1 + r) * (1 + r) - 1;
    lost_ = static_cast<double>(terms + 8) * (r > 0 ? m_.sums().flush : m_.sums().step);
  }

  void run() {
    multiply_inputs();
    begin(Form::kInitialH, h_);
    if (f_.cell == Cell::kLstm) begin(Form::kInitialC, cell_);
    const bool apart = f_.cell == Cell::kGru;  // the last gate sees the state by way of another
    const Right gates(c_.in(Form::kR), d_, f_, 0, apart ? 2 : f_.gates), last(c_.in(Form::kR), d_, f_, apart ? 2 : 0, apart ? 1 : 0);
    for (int64_t t = 0; t < f_.steps; ++t) {
      hand_on_states(t);
      const std::vector<Carried> products = multiplied(h_, gates);
      if (f_.cell == Cell::kLstm) each_unit(t, [&](int64_t b, int64_t j, int64_t at) { return lstm_unit(products, b, j, at); });
      else if (f_.cell == Cell::kRnn) each_unit(t, [&](int64_t b, int64_t j, int64_t at) { return act(0, gate(products, 1, b, 0, j, at)); });
      else gru_step(t, products, last);
    }
    write_states();
  }

 private:
  static constexpr int64_t kPast = -1;

  Carried& unit(std::vector<Carried>& state, int64_t b, int64_t j) const { return state[static_cast<size_t>(b * f_.hidden + j)]; }

  void hand_on_states(int64_t t) {
    for (int64_t b = 0; b < f_.batch; ++b)
      for (int64_t j = 0; j < f_.hidden; ++j) {
        CarriedArithmetic::hand_on(unit(h_, b, j), static_cast<uint64_t>(2 * t), static_cast<uint64_t>(j * 2));
        CarriedArithmetic::hand_on(unit(cell_, b, j), static_cast<uint64_t>(2 * t), static_cast<uint64_t>(j * 2 + 1));
      }
  }

  // What the row sees at step t: a position, or kPast.
  int64_t position(int64_t t, int64_t b) const {
    int64_t length = f_.steps;
    if (c_.has_input(Form::kLengths)) length = std::clamp<int64_t>(c_.in(Form::kLengths).ints[static_cast<size_t>(b)], 0, f_.steps);
    if (t >= length) return kPast;
    return f_.reversed[static_cast<size_t>(d_)] ? length - 1 - t : t;
  }
  bool has_open_length(int64_t b) const { return c_.has_input(Form::kLengths) && c_.in(Form::kLengths).bound_at(b) > 0; }

  void multiply_inputs() {
    const RefTensor &x = c_.in(Form::kX), &w = c_.in(Form::kW);
    const int64_t rows = f_.steps * f_.batch, columns = f_.gates * f_.hidden;
    const auto part = [&](const std::vector<double>& of) -> std::vector<double> {
      if (of.empty()) return {};
      return transposed(std::span(of).subspan(static_cast<size_t>(d_ * columns * f_.input), static_cast<size_t>(columns * f_.input)), columns, f_.input);
    };
    const auto value = part(w.value), bound = part(w.bound);
    inputs_.resize(static_cast<size_t>(rows * columns));
    input_bounds_.resize(c_.bounds ? inputs_.size() : 0);
    bounded_bilinear([&](const double* a, const double* b, const double*, double* y) { gemm_f64(rows, columns, f_.input, a, b, y); }, x, {value, bound}, {},
                     f_.input + f_.hidden + 4, c_.products.rounding, m_.sums(), rows * columns, inputs_.data(), c_.bounds ? input_bounds_.data() : nullptr);
  }

  void begin(size_t input, std::vector<Carried>& state) const {
    if (!c_.has_input(input)) return;
    const RefTensor& from = c_.in(input);
    for (int64_t b = 0; b < f_.batch; ++b)
      for (int64_t j = 0; j < f_.hidden; ++j) {
        const int64_t at = f_.state_row(d_, b) + j;
        unit(state, b, j) = m_.settled({from.value[static_cast<size_t>(at)], from.bound_at(at), {}});
      }
  }

  // state R' with its rounding, [batch, right.columns]. `state` has no errors of its own but open ones.
  std::vector<Carried> multiplied(const std::vector<Carried>& state, const Right& right) const {
    const auto size = state.size(), made = static_cast<size_t>(f_.batch * right.columns);
    const size_t copies = c_.bounds ? 1 + kProbes : 1;
    std::vector<double> left(size * copies), products(made * copies);
    for (size_t i = 0; i < size; ++i) {
      left[i] = state[i].value;
      for (size_t p = 1; p < copies; ++p) left[p * size + i] = state[i].probes[p - 1];
    }
    gemm_f64(f_.batch * static_cast<int64_t>(copies), right.columns, f_.hidden, left.data(), right.value.data(), products.data());
    std::vector<Carried> all(made);
    for (size_t i = 0; i < made; ++i) {
      all[i].value = products[i];
      for (size_t p = 1; p < copies; ++p) all[i].probes[p - 1] = products[p * made + i];
    }
    if (c_.bounds) add_rounding(state, right, all);
    return all;
  }

  void add_rounding(const std::vector<Carried>& state, const Right& right, std::vector<Carried>& products) const {
    std::vector<double> left(state.size()), magnitudes(products.size()), moved(right.bound.empty() ? 0 : products.size());
    for (size_t i = 0; i < state.size(); ++i) {
      const double a = std::fabs(state[i].value);
      left[i] = state[i].is_open() ? HUGE_VAL : std::isfinite(a) ? a + state[i].carried() : 0.0;
    }
    gemm_f64(f_.batch, right.columns, f_.hidden, left.data(), right.magnitude.data(), magnitudes.data());
    if (!moved.empty()) gemm_f64(f_.batch, right.columns, f_.hidden, left.data(), right.bound.data(), moved.data());
    for (size_t i = 0; i < products.size(); ++i) {
      products[i].own = growth_ * magnitudes[i] + (moved.empty() ? 0.0 : (1 + growth_) * moved[i]) + (magnitudes[i] > 0 ? lost_ : 0);
      if (!(products[i].own < HUGE_VAL) || magnitudes[i] >= m_.sums().beyond) products[i] = CarriedArithmetic::open();
    }
  }

  // A bias of W's half, or R's.
  Carried bias(int64_t half, int64_t k, int64_t j) const {
    if (!c_.has_input(Form::kB)) return {};
    const int64_t at = ((d_ * 2 + half) * f_.gates + k) * f_.hidden + j;
    const double v = c_.in(Form::kB).value[static_cast<size_t>(at)];
    return {v, c_.bounds ? (1 + growth_) * c_.in(Form::kB).bound_at(at) + growth_ * std::fabs(v) : 0.0, {}};
  }

  // Terms of one sum, whose rounding they have in them.
  Carried joined(const Carried& a, const Carried& b) const {
    Carried z{a.value + b.value, a.own + b.own, {}};
    for (size_t p = 0; p < kProbes; ++p) z.probes[p] = a.probes[p] + b.probes[p];
    return z;
  }
  Carried settled_sum(const Carried& z) const { return c_.bounds && growth_ > 0 ? m_.settled(z, z.own / growth_) : m_.settled(z); }

  Carried of_inputs(int64_t k, int64_t j, int64_t row) const {
    const auto at = static_cast<size_t>((row * f_.gates + k) * f_.hidden + j);
    return joined({inputs_[at], c_.bounds ? input_bounds_[at] : 0.0, {}}, bias(0, k, j));
  }

  // Of gate k, before its activation; `products` are of `gates` gates, and `row` is X's.
  Carried gate(const std::vector<Carried>& products, int64_t gates, int64_t b, int64_t k, int64_t j, int64_t row) const {
    const Carried& product = products[static_cast<size_t>((b * gates + k) * f_.hidden + j)];
    return joined(joined(of_inputs(k, j, row), product), bias(1, k, j));
  }

  // Activation f, g or h (0, 1, 2).
  Carried act(int64_t which, const Carried& x) const {
    const Carried in = clipped(m_, which == 2 ? HUGE_VAL : f_.clip, settled_sum(x));
    return activated(m_, f_.activations[static_cast<size_t>(d_ * f_.activations_each() + which)], in);
  }

  // A peephole of the input, output or forget gate (0, 1, 2): another term of its sum.
  Carried peephole(int64_t which, int64_t j, const Carried& cell) const {
    if (!c_.has_input(Form::kP)) return {};
    const int64_t at = (d_ * 3 + which) * f_.hidden + j;
    Carried p = m_.product({c_.in(Form::kP).value[static_cast<size_t>(at)], c_.in(Form::kP).bound_at(at), {}}, cell);
    p.own += growth_ * std::fabs(p.value);
    return p;
  }

  Carried lstm_unit(const std::vector<Carried>& products, int64_t b, int64_t j, int64_t row) {
    Carried& cell = unit(cell_, b, j);
    const auto before = [&](int64_t k) { return gate(products, 4, b, k, j, row); };
    const Carried in = act(0, joined(before(0), peephole(0, j, cell))), candidate = act(1, before(3));
    if (f_.input_forget) {
      cell = m_.blend(in, cell, candidate);
    } else {
      const Carried forget = act(0, joined(before(2), peephole(2, j, cell)));
      cell = m_.sum(m_.product(forget, cell), m_.product(in, candidate));
    }
    const Carried out = act(0, joined(before(1), peephole(1, j, cell)));
    return m_.product(out, act(2, cell));
  }

  void gru_step(int64_t t, const std::vector<Carried>& products, const Right& last) {
    // The state as the last gate sees it: reset first, or multiplied first.
    std::vector<Carried> reset(h_.size()), seen = h_;
    for (int64_t b = 0; b < f_.batch; ++b) {
      const int64_t at = position(t, b);
      for (int64_t j = 0; at != kPast && j < f_.hidden; ++j) {
        unit(reset, b, j) = act(0, gate(products, 2, b, 1, j, f_.x_row(at, b)));
        if (f_.linear_before_reset) continue;
        Carried& h = unit(seen, b, j);
        h = m_.product(unit(reset, b, j), h);
        CarriedArithmetic::hand_on(h, static_cast<uint64_t>(2 * t + 1), static_cast<uint64_t>(j * 2 + 1));
      }
    }
    const std::vector<Carried> inner = multiplied(seen, last);
    each_unit(t, [&](int64_t b, int64_t j, int64_t row) {
      const Carried update = act(0, gate(products, 2, b, 0, j, row));
      const Carried recurrent = joined(inner[static_cast<size_t>(b * f_.hidden + j)], bias(1, 2, j));
      const Carried term = f_.linear_before_reset ? m_.product(unit(reset, b, j), settled_sum(recurrent)) : recurrent;
      Carried sum = joined(of_inputs(2, j, row), term);
      if (f_.linear_before_reset) sum.own += growth_ * std::fabs(term.value);
      return m_.blend(update, act(1, sum), unit(h_, b, j));
    });
  }

  // h of every row that has a position at step t is next(b, unit, row of X), and an element of Y.
  template <typename Next>
  void each_unit(int64_t t, Next next) {
    next_ = h_;
    for (int64_t b = 0; b < f_.batch; ++b) {
      const int64_t at = position(t, b);
      if (at == kPast) write_past(t, b);
      for (int64_t j = 0; at != kPast && j < f_.hidden; ++j) {
        Carried& h = unit(next_, b, j);
        h = next(b, j, f_.x_row(at, b));
        write(0, f_.y_row(at, d_, b) + j, b, h);
      }
    }
    h_.swap(next_);
  }

  // Positions behind a row's end are those of the steps that it has not.
  void write_past(int64_t t, int64_t b) {
    for (int64_t j = 0; j < f_.hidden; ++j) write(0, f_.y_row(t, d_, b) + j, b, {});
  }

  void write_states() {
    for (int64_t b = 0; b < f_.batch; ++b)
      for (int64_t j = 0; j < f_.hidden; ++j) {
        write(1, f_.state_row(d_, b) + j, b, unit(h_, b, j));
        if (f_.cell == Cell::kLstm) write(2, f_.state_row(d_, b) + j, b, unit(cell_, b, j));
      }
  }

  void write(size_t output, int64_t at, int64_t b, const Carried& n) {
    if (!is_wanted(c_, output)) return;
    RefTensor& out = c_.outputs[output];
    double &value = out.value[static_cast<size_t>(at)], none = 0;
    double& bound = c_.bounds ? out.bound[static_cast<size_t>(at)] : none;
    value = n.value;
    bound = n.bound();
    if (c_.bounds && has_open_length(b)) leave_open(value, bound);
  }

  EvalContext& c_;
  const Form& f_;
  int64_t d_;
  CarriedArithmetic m_;
  double growth_ = 0, lost_ = 0;
  std::vector<double> inputs_, input_bounds_;  // X W' of all steps
  std::vector<Carried> h_, cell_, next_;
};

void eval_recurrence(EvalContext& c) {
  const Form form(c.node, c.in(Form::kX).shape, c.in(Form::kR).shape);
  for (size_t i = 0; i < c.outputs.size(); ++i)
    if (is_wanted(c, i)) float_output(c, i);
  if (form.batch == 0) return;
#pragma omp parallel for if (form.directions() > 1 && worth_threads(form.steps * form.batch * form.hidden))
  for (int64_t d = 0; d < form.directions(); ++d) Direction(c, form, d).run();
  for (size_t i = 0; i < c.outputs.size(); ++i)
    if (is_wanted(c, i)) finish_bounds(c.out(i));
}

}  // namespace

std::vector<OpDef> recurrence_ops() {
  return {
      {"", "LSTM", "fffFIFFF", infer_recurrence, eval_recurrence, 3},
      {"", "GRU", "fffFIF", infer_recurrence, eval_recurrence, 2},
      {"", "RNN", "fffFIF", infer_recurrence, eval_recurrence, 2},
  };
}

}  // namespace amdahl

// LSTM, GRU and RNN: values against formulas written out, and bounds against loops in fp32.

#include <algorithm>
#include <functional>

#include "graph/ops/carried_error.h"
#include "tests/graph/op_fixture.h"

namespace amdahl::test {
namespace {

using Attributes = std::map<std::string, Attribute>;
using Strings = std::vector<std::string>;

template <typename T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

struct Sizes {
  int64_t steps, batch, input, hidden;
};

// A forward recurrence in the type T, as one writes it down; `step` makes a row's gates and state.
template <typename T>
struct Loop {
  Sizes s;
  int64_t gates;
  std::vector<T> x, w, r, bias;

  Loop(Sizes sizes, int64_t g, const RefTensor& tx, const RefTensor& tw, const RefTensor& tr, const RefTensor& tb)
      : s(sizes),
        gates(g),
        x(tx.value.begin(), tx.value.end()),
        w(tw.value.begin(), tw.value.end()),
        r(tr.value.begin(), tr.value.end()),
        bias(tb.value.begin(), tb.value.end()) {}

  T of_input(int64_t t, int64_t b, int64_t row) const {
    T sum = bias[static_cast<size_t>(row)];
    for (int64_t i = 0; i < s.input; ++i) sum += x[static_cast<size_t>((t * s.batch + b) * s.input + i)] * w[static_cast<size_t>(row * s.input + i)];
    return sum;
  }
  T of_state(const std::vector<T>& h, int64_t b, int64_t row) const {
    T sum = bias[static_cast<size_t>(gates * s.hidden + row)];
    for (int64_t k = 0; k < s.hidden; ++k) sum += h[static_cast<size_t>(b * s.hidden + k)] * r[static_cast<size_t>(row * s.hidden + k)];
    return sum;
  }

  std::vector<T> lstm() const {
    std::vector<T> h(static_cast<size_t>(s.batch * s.hidden)), c = h, y;
    for (int64_t t = 0; t < s.steps; ++t) {
      const std::vector<T> before = h;
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t j = 0; j < s.hidden; ++j) {
          const auto gate = [&](int64_t k) { return of_input(t, b, k * s.hidden + j) + of_state(before, b, k * s.hidden + j); };
          const auto at = static_cast<size_t>(b * s.hidden + j);
          c[at] = sigmoid(gate(2)) * c[at] + sigmoid(gate(0)) * std::tanh(gate(3));
          h[at] = sigmoid(gate(1)) * std::tanh(c[at]);
        }
      y.insert(y.end(), h.begin(), h.end());
    }
    return y;
  }

  std::vector<T> gru(bool linear_before_reset) const {
    std::vector<T> h(static_cast<size_t>(s.batch * s.hidden)), y;
    for (int64_t t = 0; t < s.steps; ++t) {
      const std::vector<T> before = h;
      std::vector<T> reset = h;
      const auto gate = [&](int64_t k, int64_t b, int64_t j) { return sigmoid(of_input(t, b, k * s.hidden + j) + of_state(before, b, k * s.hidden + j)); };
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t j = 0; j < s.hidden; ++j) reset[static_cast<size_t>(b * s.hidden + j)] *= gate(1, b, j);
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t j = 0; j < s.hidden; ++j) {
          const int64_t row = 2 * s.hidden + j;
          const T inner = linear_before_reset ? gate(1, b, j) * of_state(before, b, row) : of_state(reset, b, row);
          const T z = gate(0, b, j), next = std::tanh(of_input(t, b, row) + inner);
          const auto at = static_cast<size_t>(b * s.hidden + j);
          h[at] = (T(1) - z) * next + z * before[at];
        }
      y.insert(y.end(), h.begin(), h.end());
    }
    return y;
  }

  std::vector<T> rnn() const {
    std::vector<T> h(static_cast<size_t>(s.batch * s.hidden)), y;
    for (int64_t t = 0; t < s.steps; ++t) {
      const std::vector<T> before = h;
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t j = 0; j < s.hidden; ++j) h[static_cast<size_t>(b * s.hidden + j)] = std::tanh(of_input(t, b, j) + of_state(before, b, j));
      y.insert(y.end(), h.begin(), h.end());
    }
    return y;
  }
};

struct Operands {
  Sizes s;
  int64_t gates, directions;
  RefTensor x, w, r, b;

  Operands(Sizes sizes, int64_t g, double scale = 1, int64_t d = 1)
      : s(sizes),
        gates(g),
        directions(d),
        x(random_floats({s.steps, s.batch, s.input}, 1, -2, 2)),
        w(random_floats({d, g * s.hidden, s.input}, 2, -scale, scale)),
        r(random_floats({d, g * s.hidden, s.hidden}, 3, -scale, scale)),
        b(random_floats({d, 2 * g * s.hidden}, 4)) {}
  template <typename T>
  Loop<T> loop() const {
    return Loop<T>(s, gates, x, w, r, b);
  }
};

// Y of a node; its inputs from sequence_lens on are `more`.
RefTensor y_of(const char* op, const Operands& o, Attributes attributes = {}, const std::vector<const RefTensor*>& more = {}) {
  std::vector<const RefTensor*> in{&o.x, &o.w, &o.r, &o.b};
  in.insert(in.end(), more.begin(), more.end());
  return run_one({op, 22, std::move(attributes)}, in);
}

const Attributes kLinear{{"linear_before_reset", int64_t{1}}};

TEST(Recurrence, IsTheFormulasWrittenOut) {
  const Sizes s{5, 3, 4, 6};
  const Operands lstm(s, 4), gru(s, 3), rnn(s, 1);
  expect_values(y_of("LSTM", lstm), lstm.loop<double>().lstm());
  expect_values(y_of("GRU", gru), gru.loop<double>().gru(false));
  expect_values(y_of("GRU", gru, kLinear), gru.loop<double>().gru(true));
  expect_values(y_of("RNN", rnn), rnn.loop<double>().rnn());
}

// Every step within the bound, which after 20 of them is still within 1000 times of what the loop shows.
void expect_useful(const RefTensor& y, const std::vector<float>& computed, int64_t last) {
  ASSERT_EQ(y.value.size(), computed.size());
  EXPECT_LE(worst_ratio(y, computed), 1.0);
  double worst = 0;
  for (size_t i = computed.size() - static_cast<size_t>(last); i < computed.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(computed[i]) - y.value[i]) / y.bound[i]);
  EXPECT_GE(worst, 1e-3);
}

TEST(Recurrence, Fp32LoopsLieWithinBoundsThatSaySomething) {
  const Sizes s{20, 2, 24, 64};
  for (const double scale : {0.05, 0.125, 0.5, 1.0}) {  // from fading memory to chaos
    const Operands lstm(s, 4, scale), gru(s, 3, scale), rnn(s, 1, scale);
    SCOPED_TRACE(scale);
    expect_useful(y_of("LSTM", lstm), lstm.loop<float>().lstm(), 128);
    expect_useful(y_of("GRU", gru), gru.loop<float>().gru(false), 128);
    expect_useful(y_of("GRU", gru, kLinear), gru.loop<float>().gru(true), 128);
    expect_useful(y_of("RNN", rnn), rnn.loop<float>().rnn(), 128);
  }
}

// Units that are all alike round alike: their errors add up as those of independent ones do not.
TEST(Recurrence, Fp32LoopsOfEqualNumbersLieWithinTheBound) {
  const Sizes s{40, 1, 8, 64};
  for (const double weight : {0.1, 0.013, -0.07, 0.3}) {
    Operands lstm(s, 4), gru(s, 3), rnn(s, 1);
    for (Operands* o : {&lstm, &gru, &rnn})
      for (RefTensor* t : {&o->x, &o->w, &o->r, &o->b})
        for (double& v : t->value) v = static_cast<float>(t == &o->x ? 0.3 : weight);
    SCOPED_TRACE(weight);
    EXPECT_LE(worst_ratio(y_of("LSTM", lstm), lstm.loop<float>().lstm()), 1.0);
    EXPECT_LE(worst_ratio(y_of("GRU", gru), gru.loop<float>().gru(false)), 1.0);
    EXPECT_LE(worst_ratio(y_of("GRU", gru, kLinear), gru.loop<float>().gru(true)), 1.0);
    EXPECT_LE(worst_ratio(y_of("RNN", rnn), rnn.loop<float>().rnn()), 1.0);
  }
}

TEST(Recurrence, BoundsHoldAfterManySteps) {
  const Sizes s{300, 1, 8, 48};
  const Operands lstm(s, 4, 0.14), gru(s, 3, 0.14);
  expect_useful(y_of("LSTM", lstm), lstm.loop<float>().lstm(), 48);
  expect_useful(y_of("GRU", gru), gru.loop<float>().gru(false), 48);
}

TEST(CarriedError, SquaresMayUnderflowOrOverflow) {
  for (const double error : {0x1p-900, 0x1p-30, 0x1p+900}) {
    Carried n{0, 0, {}};
    EXPECT_EQ(n.bound(), 0);
    n.probes.fill(error);
    EXPECT_DOUBLE_EQ(n.bound(), 3 * error);
  }
}

// The operator of the same name says what an activation is.
TEST(Recurrence, ActivationsAreTheOperatorsOfTheirNames) {
  const std::vector<std::tuple<std::string, std::vector<double>, std::vector<double>>> cases = {{"Sigmoid", {}, {}},
                                                                                                {"Tanh", {}, {}},
                                                                                                {"Relu", {}, {}},
                                                                                                {"LeakyRelu", {0.3}, {}},
                                                                                                {"LeakyRelu", {}, {}},
                                                                                                {"Softsign", {}, {}},
                                                                                                {"Softplus", {}, {}},
                                                                                                {"Elu", {0.7}, {}},
                                                                                                {"HardSigmoid", {0.3}, {0.4}},
                                                                                                {"HardSigmoid", {}, {}},
                                                                                                {"Elu", {}, {}},
                                                                                                {"ThresholdedRelu", {}, {}},
                                                                                                {"ThresholdedRelu", {0.25}, {}}};
  const RefTensor x = random_floats({1, 1, 40}, 5, -3, 3), zeros = floats({1, 40, 40}, std::vector<double>(1600));
  RefTensor identity = zeros;
  for (size_t i = 0; i < 40; ++i) identity.value[i * 41] = 1;
  for (const auto& [name, alpha, beta] : cases) {
    Attributes of_node{{"activations", Strings{name}}}, of_op;
    if (!alpha.empty()) of_node["activation_alpha"] = alpha, of_op["alpha"] = alpha[0];
    if (!beta.empty()) of_node["activation_beta"] = beta, of_op["beta"] = beta[0];
    const RefTensor y = run_one({"RNN", 14, of_node}, {&x, &identity, &zeros});
    SCOPED_TRACE(name);
    expect_values(y, run_one({name, 22, of_op}, {&x}).value, 1e-7);
  }
  const Attributes affine{{"activations", Strings{"Affine"}}, {"activation_alpha", std::vector<double>{2}}, {"activation_beta", std::vector<double>{-0.5}}};
  const Attributes scaled{{"activations", Strings{"ScaledTanh"}}, {"activation_alpha", std::vector<double>{2}}, {"activation_beta", std::vector<double>{-0.5}}};
  const RefTensor a = run_one({"RNN", 14, affine}, {&x, &identity, &zeros}), t = run_one({"RNN", 14, scaled}, {&x, &identity, &zeros});
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(a.value[i], 2 * x.value[i] - 0.5, 1e-12);
    EXPECT_NEAR(t.value[i], 2 * std::tanh(-0.5 * x.value[i]), 1e-12);
  }
}

RefTensor backwards(const RefTensor& x) {
  RefTensor y = x;
  const auto row = x.value.size() / static_cast<size_t>(x.shape[0]);
  for (int64_t t = 0; t < x.shape[0]; ++t)
    std::copy_n(x.value.end() - static_cast<std::ptrdiff_t>(row) * (t + 1), row, y.value.begin() + static_cast<std::ptrdiff_t>(row) * t);
  return y;
}

TEST(Recurrence, ReverseReadsAndWritesBackwards) {
  Operands o({4, 2, 3, 5}, 4);
  const RefTensor y = y_of("LSTM", o, {{"direction", std::string("reverse")}});
  o.x = backwards(o.x);
  expect_values(y, backwards(y_of("LSTM", o)).value);
}

TEST(Recurrence, BidirectionalIsBothSideBySide) {
  const Operands both({4, 2, 3, 5}, 3, 1, 2);
  const auto half = [&](size_t d) {
    Operands o({4, 2, 3, 5}, 3);
    for (auto [to, from] : {std::pair(&o.w, &both.w), std::pair(&o.r, &both.r), std::pair(&o.b, &both.b)}) {
      const auto n = static_cast<std::ptrdiff_t>(to->value.size());
      std::copy_n(from->value.begin() + n * static_cast<std::ptrdiff_t>(d), n, to->value.begin());
    }
    return y_of("GRU", o, {{"direction", std::string(d == 0 ? "forward" : "reverse")}});
  };
  const RefTensor y = y_of("GRU", both, {{"direction", std::string("bidirectional")}}), first = half(0), second = half(1);
  ASSERT_EQ(y.shape, (Shape{4, 2, 2, 5}));
  for (size_t t = 0; t < 4; ++t)
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_DOUBLE_EQ(y.value[t * 20 + i], first.value[t * 10 + i]);
      EXPECT_DOUBLE_EQ(y.value[t * 20 + 10 + i], second.value[t * 10 + i]);
    }
}

TEST(Recurrence, LengthsCutRowsOff) {
  const Operands o({4, 2, 3, 5}, 4);
  const RefTensor lengths = ints({2}, {4, 2});
  for (const char* direction : {"forward", "reverse"}) {
    const Attributes attributes{{"direction", std::string(direction)}};
    const auto out = run_op({"LSTM", 14, attributes, 3}, {&o.x, &o.w, &o.r, &o.b, &lengths});
    Operands shorter = o;
    shorter.s.steps = 2;
    shorter.x.shape[0] = 2;
    shorter.x.value.resize(2 * 2 * 3);
    const auto expected = run_op({"LSTM", 14, attributes, 3}, {&shorter.x, &o.w, &o.r, &o.b});
    for (size_t j = 0; j < 5; ++j) {
      for (size_t t = 0; t < 4; ++t) EXPECT_DOUBLE_EQ(out[0].value[t * 10 + 5 + j], t < 2 ? expected[0].value[t * 10 + 5 + j] : 0.0);
      for (size_t i = 1; i < 3; ++i) EXPECT_DOUBLE_EQ(out[i].value[5 + j], expected[i].value[5 + j]);
    }
  }
}

TEST(Recurrence, ARowWithoutStepsKeepsItsStates) {
  const Operands o({3, 1, 3, 5}, 4);
  const RefTensor none = ints({1}, {0}), h = random_floats({1, 1, 5}, 8), c = random_floats({1, 1, 5}, 9);
  const auto out = run_op({"LSTM", 14, {}, 3}, {&o.x, &o.w, &o.r, &o.b, &none, &h, &c});
  expect_values(out[0], std::vector<double>(15));
  expect_values(out[1], h.value);
  expect_values(out[2], c.value);
}

TEST(Recurrence, StatesGoOnWhereTheyEnded) {
  const Operands o({6, 2, 3, 5}, 4);
  const auto whole = run_op({"LSTM", 14, {}, 3}, {&o.x, &o.w, &o.r, &o.b});
  RefTensor first = o.x, second = o.x;
  first.shape[0] = second.shape[0] = 3;
  first.value.resize(18);
  second.value.erase(second.value.begin(), second.value.begin() + 18);
  const auto begun = run_op({"LSTM", 14, {}, 3}, {&first, &o.w, &o.r, &o.b});
  const auto ended = run_op({"LSTM", 14, {}, 3}, {&second, &o.w, &o.r, &o.b, nullptr, &begun[1], &begun[2]});
  for (size_t i = 1; i < 3; ++i) expect_values(ended[i], whole[i].value);
}

TEST(Recurrence, LayoutOneHasTheBatchInFront) {
  const Operands o({4, 3, 2, 5}, 4);
  const auto swapped = [](const RefTensor& t, int64_t a, int64_t b, int64_t row) {
    RefTensor s = t;
    for (int64_t i = 0; i < a; ++i)
      for (int64_t j = 0; j < b; ++j)
        for (int64_t k = 0; k < row; ++k) s.value[static_cast<size_t>((j * a + i) * row + k)] = t.value[static_cast<size_t>((i * b + j) * row + k)];
    return s;
  };
  RefTensor x = swapped(o.x, 4, 3, 2);
  x.shape = {3, 4, 2};
  const auto plain = run_op({"LSTM", 14, {}, 3}, {&o.x, &o.w, &o.r, &o.b});
  const auto out = run_op({"LSTM", 14, {{"layout", int64_t{1}}}, 3}, {&x, &o.w, &o.r, &o.b});
  EXPECT_EQ(out[0].shape, (Shape{3, 4, 1, 5}));
  EXPECT_EQ(out[1].shape, (Shape{3, 1, 5}));
  expect_values(out[0], swapped(plain[0], 4, 3, 5).value);
  expect_values(out[2], plain[2].value);
}

// Two steps of one unit, by hand.
TEST(Recurrence, PeepholesClipAndCoupledGates) {
  const RefTensor x = floats({2, 1, 1}, {0.5, -1}), w = floats({1, 4, 1}, {1, 2, -1, 3}), r = floats({1, 4, 1}, {0.5, -0.5, 1, 2}),
                  p = floats({1, 3}, {0.3, -0.4, 0.2});
  for (const bool coupled : {false, true}) {
    const double clip = 0.8;
    double h = 0, c = 0;
    const auto clipped = [&](double v) { return std::clamp(v, -clip, clip); };
    std::vector<double> y;
    for (const double v : x.value) {
      const double i = sigmoid(clipped(v + 0.5 * h + static_cast<float>(0.3) * 1.0 * c)), g = std::tanh(clipped(3 * v + 2 * h));
      const double f = coupled ? 1 - i : sigmoid(clipped(-v + h + 0.2 * c));
      const double before = 2 * v - 0.5 * h;
      c = f * c + i * g;
      h = sigmoid(clipped(before - 0.4 * c)) * std::tanh(c);
      y.push_back(h);
    }
    const Attributes attributes{{"clip", clip}, {"input_forget", int64_t{coupled}}};
    expect_values(run_one({"LSTM", 14, attributes}, {&x, &w, &r, nullptr, nullptr, nullptr, nullptr, &p}), y, 1e-6);
  }
}

TEST(Recurrence, RefusesWhatCannotBe) {
  const Operands o({2, 1, 3, 4}, 4);
  const auto refuses = [&](Attributes attributes) { EXPECT_THROW(y_of("LSTM", o, std::move(attributes)), Refusal); };
  refuses({{"hidden_size", int64_t{5}}});
  refuses({{"direction", std::string("sideways")}});
  refuses({{"direction", std::string("bidirectional")}});  // W has one
  refuses({{"activations", Strings{"Sigmoid", "Tanh"}}});
  refuses({{"activations", Strings{"Sigmoid", "Tanh", "Gelu"}}});
  refuses({{"activations", Strings{"Sigmoid", "Tanh", "ScaledTanh"}}});
  refuses({{"activation_alpha", std::vector<double>{0.5}}});
  refuses({{"clip", -1.0}});
  RefTensor short_bias = o.b;
  short_bias.shape = {1, 16};
  short_bias.value.resize(16);
  EXPECT_THROW(run_one({"LSTM", 14}, {&o.x, &o.w, &o.r, &short_bias}), Refusal);
  EXPECT_THROW(run_one({"LSTM", 6}, {&o.x, &o.w, &o.r}), Refusal);
}

TEST(Recurrence, NumbersThatAreNoneStayInTheirRow) {
  Operands o({3, 2, 3, 5}, 4);
  o.x.value[3 + 1] = std::nan("");  // step 0 of row 1
  const RefTensor y = y_of("LSTM", o);
  for (size_t t = 0; t < 3; ++t)
    for (size_t j = 0; j < 5; ++j) {
      EXPECT_TRUE(std::isfinite(y.value[t * 10 + j]));
      EXPECT_TRUE(std::isnan(y.value[t * 10 + 5 + j]));
      EXPECT_EQ(y.bound[t * 10 + 5 + j], 0);
    }
}

}  // namespace
}  // namespace amdahl::test

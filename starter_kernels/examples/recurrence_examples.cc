// LSTM, GRU and RNN in every form.

#include <algorithm>
#include <cmath>

#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

using Attributes = ExampleGraph::Attributes;
using Strings = std::vector<std::string>;
using Floats = std::vector<double>;

struct Recurrence {
  std::string op;
  int64_t steps, batch, input, hidden;
  Attributes attributes = {};
  std::string optional = "b";  // inputs after R, by the first letters of bias, lengths, h, c, peepholes
  size_t outputs = 1;
  DType dtype = DType::kF32;
  bool constants = true;  // of weights and biases
};

Graph graph_of_recurrence(const Recurrence& f) {
  ExampleGraph g(f.op, 22);
  const int64_t gates = f.op == "LSTM" ? 4 : f.op == "GRU" ? 3 : 1;
  const auto has = [&](const char* key) { return f.attributes.count(key) > 0; };
  const bool batch_first = has("layout");
  const int64_t d = has("direction") && std::get<std::string>(f.attributes.at("direction")) == "bidirectional" ? 2 : 1;
  const double deviation = 1.5 / std::sqrt(static_cast<double>(f.hidden));  // states that matter to the next step, and are not saturated
  uint64_t seed = 3;
  const auto weight = [&](const Shape& shape, double by) {
    ++seed;
    return f.constants ? g.normal(shape, seed, 0, by, f.dtype) : g.node("Mul", {g.input(f.dtype, shape), g.floats({}, {by}, f.dtype)});
  };
  const Shape state = batch_first ? Shape{f.batch, d, f.hidden} : Shape{d, f.batch, f.hidden};
  std::vector<ValueId> in{g.input(f.dtype, batch_first ? Shape{f.batch, f.steps, f.input} : Shape{f.steps, f.batch, f.input}),
                          weight({d, gates * f.hidden, f.input}, deviation), weight({d, gates * f.hidden, f.hidden}, deviation)};
  const auto wants = [&](char letter) { return f.optional.find(letter) != std::string::npos; };
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < f.batch; ++b) lengths.push_back(b % 4 == 3 ? 0 : std::max<int64_t>(1, f.steps - 2 * b));
  in.push_back(wants('b') ? weight({d, 2 * gates * f.hidden}, 0.5) : kNoValue);
  in.push_back(wants('l') ? g.ints({f.batch}, lengths, DType::kI32) : kNoValue);
  in.push_back(wants('h') ? g.input(f.dtype, state) : kNoValue);
  if (f.op == "LSTM") {
    in.push_back(wants('c') ? g.input(f.dtype, state) : kNoValue);
    in.push_back(wants('p') ? g.normal({d, 3 * f.hidden}, 9, 0, 0.5, f.dtype) : kNoValue);
  }
  while (in.back() == kNoValue) in.pop_back();
  g.node(f.op, in, f.attributes, f.outputs);
  std::vector<ValueId> out;
  for (size_t i = 0; i < f.outputs; ++i) out.push_back(g.output_of_last(i));
  return g.finish(out);
}

const Attribute kYes = int64_t{1};
Attributes both() { return {{"direction", std::string("bidirectional")}}; }
Attributes reverse() { return {{"direction", std::string("reverse")}}; }

std::vector<Recurrence> forms() {
  const DType f32 = DType::kF32;
  std::vector<Recurrence> all{
      {"LSTM", 1, 1, 20, 32, {}, "bhc", 3},
      {"LSTM", 7, 1, 9, 37, {}, "b", 3},
      {"LSTM", 6, 5, 12, 19, both(), "blhc", 3},
      {"LSTM", 5, 3, 7, 8, reverse(), "blhcp", 3},
      {"LSTM", 4, 2, 5, 40, {{"clip", 0.7}}, "bp"},
      {"LSTM", 4, 2, 5, 6, {{"input_forget", kYes}}, "bhcp", 3},
      {"LSTM", 5, 4, 6, 33, {{"layout", kYes}, {"direction", std::string("bidirectional")}}, "blhcp", 3},
      {"LSTM", 3, 2, 40, 70, {}, "", 1, f32, false},
      {"LSTM",
       4,
       2,
       5,
       6,
       {{"activations", Strings{"HardSigmoid", "Softsign", "Affine"}}, {"activation_alpha", Floats{0.3, 0.8}}, {"activation_beta", Floats{0.4, 0.1}}}},
      {"LSTM",
       3,
       2,
       6,
       20,
       {{"direction", std::string("bidirectional")},
        {"activations", Strings{"Sigmoid", "Tanh", "Tanh", "HardSigmoid", "Relu", "ScaledTanh"}},
        {"activation_alpha", Floats{0.25, 0.9}},
        {"activation_beta", Floats{0.5, 0.7}}}},
      {"GRU", 1, 1, 20, 32, {}, "bh", 2},
      {"GRU", 7, 1, 9, 37, {}, "b", 2},
      {"GRU", 7, 1, 9, 37, {{"linear_before_reset", kYes}}, "b", 2},
      {"GRU", 6, 5, 12, 19, both(), "blh", 2},
      {"GRU", 6, 5, 12, 19, {{"direction", std::string("bidirectional")}, {"linear_before_reset", kYes}}, "blh", 2},
      {"GRU", 5, 3, 7, 8, reverse(), "", 2},
      {"GRU", 5, 4, 6, 33, {{"layout", kYes}, {"linear_before_reset", kYes}, {"clip", 0.7}}, "blh", 2},
      {"GRU", 4, 9, 11, 70, {{"clip", 0.6}}, "bl", 2, f32, false},
      {"GRU", 3, 2, 6, 20, {{"activations", Strings{"LeakyRelu", "Elu"}}, {"activation_alpha", Floats{0.05, 0.6}}}, ""},
      {"RNN", 1, 1, 20, 32, {}, "bh", 2},
      {"RNN", 9, 7, 9, 150, {}, "bl", 2},
      {"RNN", 6, 5, 12, 19, both(), "blh", 2},
      {"RNN", 5, 3, 7, 8, {{"layout", kYes}, {"direction", std::string("reverse")}}, "h", 2, f32, false},
      {"RNN", 4, 2, 5, 6, {{"activations", Strings{"Relu"}}, {"clip", 0.9}}},
      {"RNN", 4, 2, 5, 6, {{"activations", Strings{"Softplus"}}}},
      {"RNN", 4, 2, 5, 6, {{"activations", Strings{"ThresholdedRelu"}}, {"activation_alpha", Floats{0.2}}}},
  };
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) {
    all.push_back({"LSTM", 4, 3, 10, 20, both(), "blhcp", 3, dtype});
    all.push_back({"GRU", 4, 3, 10, 20, {{"linear_before_reset", kYes}}, "bh", 2, dtype, false});
    all.push_back({"RNN", 4, 3, 10, 20, {}, "bh", 2, dtype});
  }
  return all;
}

}  // namespace

std::vector<Graph> recurrence_examples() {
  std::vector<Graph> all;
  for (const Recurrence& form : forms()) all.push_back(graph_of_recurrence(form));
  // Of an encoder only the last states are wanted.
  ExampleGraph encoder("LSTM without Y");
  encoder.node("LSTM", {encoder.input({5, 2, 6}), encoder.normal({1, 32, 6}, 3), encoder.normal({1, 32, 8}, 4, 0, 0.5)}, {}, 3);
  all.push_back(encoder.finish({encoder.output_of_last(1), encoder.output_of_last(2)}));
  all.back().nodes.back().outputs[0] = kNoValue;
  return all;
}

}  // namespace amdahl

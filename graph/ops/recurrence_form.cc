// Attributes of LSTM, GRU and RNN.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "graph/ops/recurrence.h"

namespace amdahl {
namespace {

// What an activation takes of activation_alpha and activation_beta, and what it has without.
struct Takes {
  bool alpha = false, beta = false;
  double default_alpha = 0, default_beta = 0;
  bool has_defaults = true;
};

const std::map<std::string, Takes>& known_activations() {
  static const std::map<std::string, Takes> all{
      {"sigmoid", {}},
      {"tanh", {}},
      {"relu", {}},
      {"softsign", {}},
      {"softplus", {}},
      {"affine", {true, true, 1, 0}},
      {"leakyrelu", {true, false, 0.01f}},
      {"thresholdedrelu", {true, false, 1}},
      {"scaledtanh", {true, true, 0, 0, false}},
      {"hardsigmoid", {true, true, 0.2f, 0.5}},
      {"elu", {true, false, 1}},
  };
  return all;
}

std::vector<std::string> names_of(const Node& node, size_t each, size_t directions) {
  const auto found = node.attributes.find("activations");
  const auto* given = found == node.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
  std::vector<std::string> names;
  if (given) names = *given;
  if (names.empty()) {
    const std::vector<std::string> usual = node.op == "RNN" ? std::vector<std::string>{"Tanh"} : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), usual.begin(), usual.begin() + static_cast<std::ptrdiff_t>(each));
  }
  if (names.size() != each * directions) throw Refusal(fmt::format("{} activations, {} are needed", names.size(), each * directions));
  for (std::string& name : names)
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return names;
}

// The numbers of one attribute, which go to those activations in turn that take one.
class Numbers {
 public:
  Numbers(const Node& node, const char* attribute) : attribute_(attribute) {
    if (const auto found = node.attributes.find(attribute); found != node.attributes.end())
      if (const auto* given = std::get_if<std::vector<double>>(&found->second)) left_ = *given;
  }
  double next(double otherwise, bool has_default, const std::string& name) {
    if (next_ < left_.size()) return static_cast<float>(left_[next_++]);
    if (!has_default) throw Refusal(fmt::format("the activation '{}' needs a number of {}", name, attribute_));
    return otherwise;
  }
  void require_none_left() const {
    if (next_ < left_.size()) throw Refusal(fmt::format("{} has {} numbers for {} activations that take one", attribute_, left_.size(), next_));
  }

 private:
  const char* attribute_;
  std::vector<double> left_;
  size_t next_ = 0;
};

std::vector<RecurrentActivation> activations_of(const Node& node, size_t each, size_t directions) {
  Numbers alphas(node, "activation_alpha"), betas(node, "activation_beta");
  std::vector<RecurrentActivation> all;
  for (const std::string& name : names_of(node, each, directions)) {
    const auto known = known_activations().find(name);
    if (known == known_activations().end()) throw Refusal("unknown activation '" + name + "'");
    const Takes& takes = known->second;
    RecurrentActivation a{name};
    if (takes.alpha) a.alpha = alphas.next(takes.default_alpha, takes.has_defaults, name);
    if (takes.beta) a.beta = betas.next(takes.default_beta, takes.has_defaults, name);
    all.push_back(std::move(a));
  }
  alphas.require_none_left();
  betas.require_none_left();
  return all;
}

std::vector<bool> directions_of(const Node& node) {
  const std::string direction = node.attr_string("direction", "forward");
  if (direction == "forward") return {false};
  if (direction == "reverse") return {true};
  if (direction == "bidirectional") return {false, true};
  throw Refusal("unknown direction '" + direction + "'");
}

}  // namespace

RecurrenceForm::RecurrenceForm(const Node& node, const Shape& x, const Shape& r) {
  if (node.version < 7) throw Refusal("before opset 7 outputs depend on output_sequence");
  cell = node.op == "LSTM" ? Cell::kLstm : node.op == "GRU" ? Cell::kGru : Cell::kRnn;
  gates = cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1;
  reversed = directions_of(node);
  activations = activations_of(node, static_cast<size_t>(activations_each()), reversed.size());
  if (node.has("clip")) clip = static_cast<float>(node.attr_float("clip", 0));
  if (!(clip >= 0)) throw Refusal("clip must not be negative");
  batch_first = node.version >= 14 && node.attr_int("layout", 0) != 0;
  linear_before_reset = cell == Cell::kGru && node.attr_int("linear_before_reset", 0) != 0;
  input_forget = cell == Cell::kLstm && node.attr_int("input_forget", 0) != 0;
  if (x.size() != 3 || r.size() != 3) throw Refusal(fmt::format("X is {} and R is {}; both must have three dimensions", to_string(x), to_string(r)));
  steps = x[batch_first ? 1 : 0];
  batch = x[batch_first ? 0 : 1];
  input = x[2];
  hidden = r[2];
  if (steps == 0 || input == 0 || hidden == 0) throw Refusal("a recurrence without steps, inputs or units");
  if (const int64_t size = node.attr_int("hidden_size", hidden); size != hidden) throw Refusal(fmt::format("hidden_size is {}, R has {} units", size, hidden));
}

Shape RecurrenceForm::sequence_shape() const { return batch_first ? Shape{batch, steps, directions(), hidden} : Shape{steps, directions(), batch, hidden}; }

Shape RecurrenceForm::state_shape() const { return batch_first ? Shape{batch, directions(), hidden} : Shape{directions(), batch, hidden}; }

}  // namespace amdahl

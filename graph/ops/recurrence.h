#pragma once
// What an LSTM, GRU or RNN node says: for its shape rule, its value, and kernels that compute it.

#include <cmath>
#include <string>
#include <vector>

#include "graph/op.h"

namespace amdahl {

struct RecurrentActivation {
  std::string name;  // in lower case: "sigmoid", "hardsigmoid"
  double alpha = 0, beta = 0;
  bool operator==(const RecurrentActivation&) const = default;
};

struct RecurrenceForm {
  enum class Cell { kRnn, kGru, kLstm };
  // Inputs of the node; an RNN and a GRU end with kInitialH.
  enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

  Cell cell = Cell::kRnn;
  int64_t gates = 1;                             // rows of W and R for each unit
  std::vector<bool> reversed;                    // of each direction
  std::vector<RecurrentActivation> activations;  // f, g, h of the first direction, then of the second
  double clip = HUGE_VAL;                        // of what goes into the gates' activations
  bool batch_first = false, linear_before_reset = false, input_forget = false;
  int64_t steps = 0, batch = 0, input = 0, hidden = 0;

  // Throws Refusal for attributes that cannot be, and where the shapes of X and R do not fit them.
  RecurrenceForm(const Node& node, const Shape& x, const Shape& r);

  auto directions() const { return static_cast<int64_t>(reversed.size()); }
  int64_t activations_each() const { return cell == Cell::kLstm ? 3 : cell == Cell::kGru ? 2 : 1; }
  Shape sequence_shape() const;  // of Y
  Shape state_shape() const;     // of Y_h and Y_c, and of what the states begin with
  // Of the first element of a row in X (without the factor `input`), in Y and in a state.
  int64_t x_row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  int64_t y_row(int64_t t, int64_t d, int64_t b) const {
    return (batch_first ? (b * steps + t) * directions() + d : (t * directions() + d) * batch + b) * hidden;
  }
  int64_t state_row(int64_t d, int64_t b) const { return (batch_first ? b * directions() + d : d * batch + b) * hidden; }
};

}  // namespace amdahl

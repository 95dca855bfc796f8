#pragma once
// The parameters and sizes of a recurrence problem (recurrence.cc says what its operands are).

#include <cmath>
#include <string>
#include <vector>

#include "graph/ops/recurrence.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct RecurrenceParams {
  enum class Cell : char { kRnn = 'r', kGru = 'g', kLstm = 'l' };               // texts have the letters
  enum class Direction : char { kForward = 'f', kReverse = 'r', kBoth = 'b' };  // both: forward is the first

  Cell cell = Cell::kRnn;
  Direction direction = Direction::kForward;
  std::vector<RecurrentActivation> activations;  // f, g, h of the first direction, then of the second
  double clip = HUGE_VAL;                        // of what goes into the gates' activations; infinite: none
  bool batch_first = false;                      // X [batch, steps, input], and likewise all that comes out
  bool linear_before_reset = false;              // of a GRU: the state is multiplied before it is reset
  bool input_forget = false;                     // of an LSTM: the forget gate is what the input gate leaves of 1
  std::string inputs;                            // a letter for each of in[3 …]: b(ias), l(engths), h, c (the states that it begins with), p(eepholes)
  std::string outputs = "y";                     // and for each of out: y, and the last states h and c

  static RecurrenceParams of(const Problem& problem);
  void write(Problem& problem) const;

  int64_t gates() const { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }
  bool is_reversed(int64_t d) const { return direction == Direction::kReverse || d == 1; }
  // Of in or out; -1: it is absent.
  int64_t input_at(char letter) const { return place_of(letter, inputs, 3); }
  int64_t output_at(char letter) const { return place_of(letter, outputs, 0); }

 private:
  static int64_t place_of(char letter, const std::string& letters, int64_t first) {
    const size_t at = letters.find(letter);
    return at == std::string::npos ? -1 : first + static_cast<int64_t>(at);
  }
};

struct RecurrenceSizes {
  int64_t steps, batch, input, hidden, directions, gates;
  explicit RecurrenceSizes(const Problem& p);
};

}  // namespace amdahl

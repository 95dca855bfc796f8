#pragma once
// The block that a person watches while the loop runs, as text: what LiveView draws, without a terminal.

#include <string>
#include <vector>

#include "tuner/search/progress.h"

namespace amdahl {

// The model's speed over the starter plan's, with every win so far, at a moment of the session.
struct FrontierPoint {
  double seconds = 0, speedup = 1;
};

struct LiveState {
  std::string model;
  TuneStatus status;
  std::vector<FrontierPoint> frontier;  // in order of time
  std::vector<std::string> kept;        // kept steps, one line each, newest last
  std::string gate, note;               // the newest of each, or ""
};

struct LiveSize {
  int columns = 100, rows = 30;
};

// One character a column: ▁ is 1x (or the lowest, when something got slower), █ the highest. Columns before the first
// point are blank.
std::string sparkline(const std::vector<FrontierPoint>& frontier, double until, int columns);

// The rows of the block: at most size.columns - 1 characters each, and at most size.rows - 1 rows, so that a terminal never
// wraps or scrolls it. With colour, rows carry escape sequences beside their characters.
std::vector<std::string> live_block(const LiveState& state, const LiveSize& size, bool colour);

// The same as one line, for logs.
std::string live_line(const TuneStatus& status);

// Characters of UTF-8 text, escape sequences not counted.
int width_of(const std::string& text);

}  // namespace amdahl

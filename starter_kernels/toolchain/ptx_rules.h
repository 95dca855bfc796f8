#pragma once
// What a card's kernel must keep before it is loaded, read from its PTX: it knows no clock and not where it runs, calls nothing of the driver's, keeps nothing
// in the card's memory, and says nothing to caches that outlives it.

#include <string>

namespace amdahl {

struct PtxRefusal {
  std::string code;    // "forbidden-instruction", "forbidden-symbol", "odd-library"; "" when it keeps the rules
  std::string reason;  // one line
};

PtxRefusal refused_ptx(const std::string& text);

}  // namespace amdahl

#pragma once
// Edits of a kernel's text that change nothing of what it computes: what a person or a model does that "improves" a kernel
// without an effect. Also the two edits with a known effect: padding of the code, and planted time.
//
// Knows as much of C++ as our generated sources use: comments, declarations at the margin, one statement a line.

#include <cstdint>
#include <string>

#include "base/random.h"

namespace amdahl::trust {

struct EditedSource {
  std::string text;
  std::string edits;  // "rename, reorder functions"; "" when nothing could be edited
};

// One to four of: comments added, local names changed, constants of a block that do not use each other reordered, and
// declarations and functions likewise.
EditedSource no_op_edits(const std::string& source, Random& random);

// The same instructions and constants elsewhere: 16 to 4096 bytes of padding before the code, in steps of 16 bytes.
std::string padded(const std::string& source, Random& random);

// amdahl_run takes `iterations` turns of a chain of dependent multiplications before it begins. Texts that differ in the number
// only compile to the same instructions.
std::string with_spin(const std::string& source, int64_t iterations);
// The same of a text for a card: every thread of its first kernel takes them once it has waited for the kernels before it, so that they last once for each
// wave of blocks.
std::string with_spin_on_card(const std::string& source, int64_t iterations);

}  // namespace amdahl::trust

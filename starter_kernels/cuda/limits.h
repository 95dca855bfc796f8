#pragma once
// What a kernel may take of a card, and the sentences that refuse more.

#include <cstdint>
#include <string>

namespace amdahl {

// Shared memory of a block on every card from compute capability 8.0 on: of arrays whose size the text states, and of what a launch asks for.
inline constexpr int64_t kStaticSharedBytes = 48 << 10, kDynamicSharedBytes = 96 << 10;

// "" where it fits.
std::string refused_shared(int64_t bytes, int64_t most);
// Sums of parts in the workspace: what is more than they could win.
std::string refused_parts(int64_t parts, int64_t bytes_of_one);

}  // namespace amdahl

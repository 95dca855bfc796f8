#pragma once
// Where the bytes of an operand lie between guards, and what lies beside them: the same in the worker's mapping and in the supervisor's copy.

#include <cstddef>

namespace amdahl {

enum class Layout {
  kModel,  // 64-byte aligned, whole huge pages from 128 KiB on: as the executor has it; for timing
  kEnd,    // the last byte touches the guard page behind: alignment is that of the size, at least the element's
  kStart,  // the first byte touches the guard page in front
  kShift,  // 20 bytes past a 64-byte boundary: no vector width divides it, the element's alignment (4) does
};

// Large weights lie alike in every layout but the model's: one copy of them is enough for what layouts show.
Layout layout_of_weight(size_t bytes, Layout layout);

// The pages of a buffer and its place in them.
struct Placement {
  size_t pages = 0;   // bytes, a multiple of the page, or of 2 MiB
  size_t offset = 0;  // of the data in the pages
  bool huge = false;  // pages start on a 2 MiB boundary
};
Placement placement(size_t bytes, size_t element, Layout layout);

// Bytes of the data's first and last 4 KiB that are not the data's: filled with a pattern, and whether they still hold it. (The rest of a
// huge page is nobody's: a buffer has one where it is timed, and was judged between guards before.) In the memory of this process.
void fill_slack(std::byte* data, size_t bytes, std::byte pattern);
bool slack_intact(const std::byte* data, size_t bytes, std::byte pattern);

}  // namespace amdahl

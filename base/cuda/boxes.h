#pragma once
// What a tensor map is made of: a matrix of 2-byte numbers in a card's memory, of which a kernel copies boxes to shared memory. As a row of the kernel's table
// amdahl_boxes (starter_kernels/cuda/kernels/prelude.h).

#include <cstdint>

namespace amdahl::cuda {

struct Boxes {
  uint64_t input = 0, offset = 0;  // bytes of the operand before the matrix
  uint64_t rows = 0, columns = 0;  // of images: pixels of all of them, and channels
  uint64_t row_bytes = 0;          // from one row to the next
  uint32_t box_rows = 0, box_columns = 0;
  // Rows that are pixels of images, of which a box takes those that windows see with one tap, one window after the other: the first tap of the first window
  // lies at pixel (first_w, first_h), of the last of a row or column at width - 1 + last_w, height - 1 + last_h, and every step_w or step_h pixels between.
  // width 0: of a plain matrix.
  uint32_t width = 0, height = 0, step_w = 0, step_h = 0;
  int32_t first_w = 0, first_h = 0, last_w = 0, last_h = 0;
};

}  // namespace amdahl::cuda

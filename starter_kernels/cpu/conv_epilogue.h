#pragma once
// What comes after the sums of a convolution or pooling: the epilogue as a function of (image, channel, flat pixel).

#include <string>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {

// `static inline OUT finish(float sum, const void* const* in, int64_t n, int64_t o, int64_t p)`, p over all output
// pixels. Extra inputs whose spatial dimensions fold into one index are loaded by p alone, so that the loop over p
// vectorises; others cost a division a point. Scalar math and the epilogue itself come with it.
std::string emit_finish(const Problem& problem, const SlidingWindow& geometry);

// Of sums of bytes: cpu/kernels/byte_pixels.h and what it needs, with the epilogue on vectors of pixels where it has that form (byte_epilogue.h). After gemm_tile.h.
std::string byte_epilogue_of_pixels(const Problem& problem, const SlidingWindow& geometry);

// For channel-blocked output: `static inline void finish_block(const float* sums, float* to, in, int64_t n, int64_t b,
// int64_t p)` finishes the BLOCK channels of block b at pixel p and writes them; channels past the last one become
// zero.
std::string emit_finish_block(const Problem& problem, int64_t block);

// `static inline void store_block(const float* sums, float* out, in, int64_t n, int64_t b, int64_t p)`: the same for
// either output format, `out` being the whole output.
std::string emit_store_block(const Problem& problem, const SlidingWindow& geometry, int64_t block);

// As emit_finish for one element at a time and any dtype or strides, with the loads of in[0] and in[1]: load_x, load_w
// (three spatial indices each), store_out, and `ACC`, the type of the sum.
std::string emit_element_access(const Problem& problem, const SlidingWindow& geometry);

}  // namespace amdahl

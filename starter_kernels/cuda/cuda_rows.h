#pragma once
// How a card's threads share the lines of kernels that fold rows (starter_kernels/cuda/kernels/rows.h says what a line is).

#include <string>
#include <vector>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {

// LANES and LINES.
std::vector<Knob> line_knobs(const RowSpace& rows);
std::string refused_lines(const RowSpace& rows, const Knobs& knobs);

// READS: `values` are those that the kernel knows. One of 1 keeps a thread's elements in registers.
Knob reads_knob(const RowSpace& rows, std::vector<int64_t> values, std::string meaning);
std::string refused_reads(const RowSpace& rows, const Knobs& knobs, DType real);

// O, R, J, K, LANES, LINES, THREADS, and UNROLL: elements of a thread that the compiler sees at a time.
std::string line_sizes(const RowSpace& rows, const Knobs& knobs, int64_t unroll);
// READS, and line_sizes() with all elements of a thread where they stay in registers.
std::string reading_sizes(const RowSpace& rows, const Knobs& knobs);

}  // namespace amdahl

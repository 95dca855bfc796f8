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

// Of a kernel that takes pieces of up to `piece` elements along a row (starter_kernels/cuda/row_pieces.h): LANES and LINES for a card of as many
// multiprocessors; READS, of which `values` are those that the kernel knows, and one of 1 keeps a thread's elements in registers; PIECE.
std::vector<Knob> reading_knobs(const RowSpace& rows, int64_t piece, int64_t multiprocessors, std::vector<int64_t> values, std::string meaning);
std::string refused_reads(const RowSpace& rows, const Knobs& knobs, DType real);
// Of a thread, where all lanes have as many as the first.
int64_t pieces_of_thread(const RowSpace& rows, const Knobs& knobs);

// O, R, J, K, LANES, LINES, THREADS, and UNROLL: elements of a thread that the compiler sees at a time.
std::string line_sizes(const RowSpace& rows, const Knobs& knobs, int64_t unroll);
// READS, PIECE, and line_sizes() with all pieces of a thread where they stay in registers.
std::string reading_sizes(const RowSpace& rows, const Knobs& knobs);

}  // namespace amdahl

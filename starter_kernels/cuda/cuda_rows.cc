#include "starter_kernels/cuda/cuda_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/pieces.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {
namespace {

constexpr int64_t kMostKept = 32;  // registers of a thread for elements: 1024 threads have 64 each

int64_t length_of(const RowSpace& rows) { return rows.outer * rows.along; }
int64_t pieces_of_lane(const RowSpace& rows, int64_t piece, int64_t lanes) { return std::max<int64_t>(1, ceil_div(length_of(rows) / piece, lanes)); }

// The fewest lanes with which a thread has at most `each` elements.
int64_t starter_lanes(const std::vector<int64_t>& values, int64_t length, int64_t each) {
  for (int64_t lanes : values)
    if (lanes * each >= length) return lanes;
  return values.back();
}

}  // namespace

std::vector<Knob> line_knobs(const RowSpace& rows) {
  if (rows.columns > 1) {
    const std::vector<int64_t> lanes{1, 4, 8, 16, 32};
    return {{"LANES", lanes, std::min<int64_t>(8, starter_lanes(lanes, length_of(rows), 4)), "threads of a column"},
            {"LINES", {8, 16, 32, 64}, 32, "neighbouring columns of a block"}};
  }
  const std::vector<int64_t> lanes{8, 32, 128, 512, 1024};
  const int64_t starter = std::min<int64_t>(512, starter_lanes(lanes, length_of(rows), 8));
  return {{"LANES", lanes, starter, "threads of a row"}, {"LINES", {1, 2, 4, 8, 16}, std::max<int64_t>(1, 128 / starter), "rows of a block"}};
}

std::string refused_lines(const RowSpace& rows, const Knobs& knobs) {
  const int64_t threads = knobs.at("LANES") * knobs.at("LINES"), least = rows.columns > 1 ? 1 : 32;
  if (threads < least || threads > 1024) return fmt::format("a block of {} threads: {} to 1024 are possible", threads, least);
  return "";
}

namespace {

// A row of up to four loads a thread is a warp's, which waits for no other; a longer one is as many warps'. More than a row has a block only where enough blocks
// are left for all multiprocessors.
std::vector<Knob> piece_line_knobs(const RowSpace& rows, int64_t piece, int64_t multiprocessors) {
  if (piece == 1) return line_knobs(rows);
  const std::vector<int64_t> lanes{8, 16, 32, 64, 128, 256, 512, 1024};
  const int64_t pieces = length_of(rows) / piece, each = std::min<int64_t>(4, kMostKept / piece);
  const int64_t starter = pieces <= 32 ? starter_lanes(lanes, pieces, 1) : std::max<int64_t>(32, starter_lanes(lanes, pieces, each));
  const int64_t enough = rows.rows / (4 * std::max<int64_t>(1, multiprocessors));
  int64_t lines = std::max<int64_t>(1, 32 / starter);
  while (lines * starter < 128 && lines * 2 <= enough) lines *= 2;
  return {{"LANES", lanes, starter, "threads of a row"}, {"LINES", {1, 2, 4, 8, 16}, lines, "rows of a block"}};
}

}  // namespace

std::vector<Knob> reading_knobs(const RowSpace& rows, int64_t piece, int64_t multiprocessors, std::vector<int64_t> values, std::string meaning) {
  std::vector<Knob> knobs = piece_line_knobs(rows, piece, multiprocessors);
  const bool keeps = piece * pieces_of_lane(rows, piece, knobs[0].starter) <= (piece == 1 ? kMostKept / 2 : kMostKept);
  const int64_t starter = keeps ? values.at(0) : values.at(1);
  knobs.push_back({"READS", std::move(values), starter, std::move(meaning)});
  if (piece > 1) knobs.push_back(piece_knob(piece));
  return knobs;
}

int64_t pieces_of_thread(const RowSpace& rows, const Knobs& knobs) { return pieces_of_lane(rows, piece_of(knobs), knobs.at("LANES")); }

std::string refused_reads(const RowSpace& rows, const Knobs& knobs, DType real) {
  const int64_t kept = piece_of(knobs) * pieces_of_thread(rows, knobs) * static_cast<int64_t>(size_of(real)) / 4;
  if (knobs.at("READS") == 1 && kept > kMostKept) return fmt::format("a thread would keep {} registers of elements, and {} are there", kept, kMostKept);
  return refused_lines(rows, knobs);
}

// An empty line has one part, and where there is no line there is no row.
std::string line_sizes(const RowSpace& rows, const Knobs& knobs, int64_t unroll) {
  const bool empty = length_of(rows) == 0;
  return cuda_sizes({{"O", rows.columns == 0 ? 0 : rows.rows},
                     {"R", empty ? 1 : rows.outer},
                     {"J", empty ? 0 : rows.along},
                     {"K", std::max<int64_t>(1, rows.columns)},
                     {"LANES", knobs.at("LANES")},
                     {"LINES", knobs.at("LINES")},
                     {"THREADS", knobs.at("LANES") * knobs.at("LINES")},
                     {"UNROLL", unroll}});
}

std::string reading_sizes(const RowSpace& rows, const Knobs& knobs) {
  const int64_t reads = knobs.at("READS"), piece = piece_of(knobs);
  return cuda_sizes({{"READS", reads}, {"PIECE", piece}}) + line_sizes(rows, knobs, reads == 1 ? pieces_of_thread(rows, knobs) : piece > 4 ? 2 : 4);
}

}  // namespace amdahl

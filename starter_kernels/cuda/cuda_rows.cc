#include "starter_kernels/cuda/cuda_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {
namespace {

constexpr int64_t kMostKept = 32;  // registers of a thread for elements: 1024 threads have 64 each

int64_t length_of(const RowSpace& rows) { return rows.outer * rows.along; }
int64_t elements_of_thread(const RowSpace& rows, int64_t lanes) { return std::max<int64_t>(1, ceil_div(length_of(rows), lanes)); }

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

Knob reads_knob(const RowSpace& rows, std::vector<int64_t> values, std::string meaning) {
  const bool keeps = elements_of_thread(rows, line_knobs(rows)[0].starter) <= kMostKept / 2;
  const int64_t starter = keeps ? values.at(0) : values.at(1);
  return {"READS", std::move(values), starter, std::move(meaning)};
}

std::string refused_reads(const RowSpace& rows, const Knobs& knobs, DType real) {
  const int64_t kept = elements_of_thread(rows, knobs.at("LANES")) * static_cast<int64_t>(size_of(real)) / 4;
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
  const int64_t reads = knobs.at("READS");
  return cuda_sizes({{"READS", reads}}) + line_sizes(rows, knobs, reads == 1 ? elements_of_thread(rows, knobs.at("LANES")) : 4);
}

}  // namespace amdahl

// How an NVIDIA card computes the pointwise kind (starter_kernels/kinds/pointwise.cc).

#include "starter_kernels/kinds/pointwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/device_info.h"
#include "starter_kernels/cuda/channels_last.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/pieces.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// Inputs of the problem, then outputs, along its innermost dimension.
std::vector<Piece> pieces_of(const Problem& problem, const IndexSpace& space, int64_t piece) {
  std::vector<Piece> pieces;
  for (size_t k = 0; k < space.strides.size(); ++k) {
    const Shape& strides = space.strides[k];
    int64_t even = space.offsets[k];
    for (size_t d = 0; d + 1 < strides.size(); ++d) even = std::gcd(even, strides[d]);
    const Access& a = k < problem.in.size() ? problem.in[k] : problem.out[k - problem.in.size()];
    pieces.emplace_back(a.dtype, piece, strides.empty() ? 0 : strides.back(), even);
  }
  return pieces;
}

// Every operand allows it, or has one value for all of a piece; outputs have none of these.
int64_t widest_piece(const Problem& problem, const IndexSpace& space) {
  int64_t widest = space.dims.empty() ? 1 : std::gcd(space.dims.back(), int64_t{16});
  for (const Piece& piece : pieces_of(problem, space, widest))
    if (piece.along != 0) widest = std::gcd(widest, piece.width);
  return widest;
}

// `Inputs`, a piece of them, and `load_Inputs(in, n)`; `write(p, out, n)`: all outputs at the points from the n-th on.
std::string piece_text(const Problem& problem, const IndexSpace& space, int64_t piece) {
  const PointwiseProgram program = PointwiseParams::of(problem).program;
  const std::vector<Piece> pieces = pieces_of(problem, space, piece);
  const size_t inputs = problem.in.size();
  const std::string point = unflatten_text("n", space.dims, 0, "  ");
  const auto place = [&](size_t operand) { return offset_text(space.strides[operand], 0, space.offsets[operand]); };
  std::vector<size_t> numbers;
  std::vector<std::string> places;
  std::string arguments, arrays, results, values, stores;
  for (size_t k = 0; k < inputs; ++k) {
    numbers.push_back(k), places.push_back(place(k));
    arguments += (k ? ", " : "") + piece_element_text(k, pieces[k]);
  }
  const bool single = program.results.size() == 1;
  for (size_t r = 0; r < problem.out.size(); ++r) {
    const DType type = problem.out[r].dtype;
    arrays += fmt::format("  {} y{}[PIECE];\n", c_type(type), r);
    if (!single) {
      results += fmt::format("    {} r{};\n", register_type(type_of_value(program, program.results[r])), r);
      arguments += fmt::format("{}&r{}", arguments.empty() ? "" : ", ", r);
    }
    values += fmt::format("    y{}[e] = {};\n", r, store_text(type, single ? "program(" + arguments + ")" : fmt::format("r{}", r)));
    stores += store_piece_text(r, pieces[inputs + r], place(inputs + r), fmt::format("y{}", r));
  }
  if (!single) results += "    program(" + arguments + ");\n";
  return LoadedPiece{"Inputs", "int64_t n", point}.text(numbers, pieces, places) +
         fmt::format(
             "static inline void write(const Inputs& p, void* const* out, int64_t n) {{\n{}{}#pragma unroll\n  for (int e = 0; e < PIECE; ++e) {{\n{}{}  "
             "}}\n{}}}\n",
             point, arrays, results, values, stores);
}

// Over storage, where what is read by channel is adjacent.
Problem stored(const Problem& problem) { return channels_last(problem) ? stored_channels_last(problem, 0) : problem; }

// As many loads of a thread as leave four blocks to every multiprocessor.
int64_t starter_each(int64_t pieces, int64_t threads, int64_t multiprocessors) {
  int64_t each = 1;
  while (each < 4 && pieces / (2 * each * threads) >= 4 * multiprocessors) each *= 2;
  return each;
}

class PointwiseOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPointwise; }

  SearchSpace space(const Problem& of, const DeviceInfo& card) const override {
    if (const std::string why = refused_formats(of, 0); !why.empty()) return {{}, [=](const Knobs&) { return why; }};
    const Problem problem = stored(of);
    const IndexSpace points = collapse(problem);
    const int64_t widest = widest_piece(problem, points), threads = 256;
    const int64_t each = widest == 1 ? 4 : starter_each(points.points() / widest, threads, std::max(card.units, 1));
    SearchSpace space;
    space.knobs = {{"THREADS", {64, 128, 256, 512}, threads, "threads of a block"},
                   {"EACH", {1, 2, 4, 8}, each, "pieces of a thread, or elements, THREADS apart: as many loads are in flight"}};
    if (widest > 1) space.knobs.push_back(piece_knob(widest));
    space.refuse = [](const Knobs&) { return std::string(); };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem problem = stored(variant.problem);
    const IndexSpace space = collapse(problem);
    const int64_t piece = piece_of(variant.knobs);
    return join_text({cuda_opening(problem),
                      cuda_sizes({{"POINTS", space.points()}, {"THREADS", variant.knobs.at("THREADS")}, {"EACH", variant.knobs.at("EACH")}, {"PIECE", piece}}),
                      std::string(cuda_text("vector.h")), std::string(cuda_text("pieces.h")), emit_program(PointwiseParams::of(problem).program, "program"),
                      piece_text(problem, space, piece), std::string(cuda_text("pointwise.cu"))});
  }
};

}  // namespace

const KernelImplementation* pointwise_on_cuda() {
  static const PointwiseOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

#include "starter_kernels/cuda/adjacent_epilogue.h"

#include <fmt/format.h>

#include <numeric>

#include "starter_kernels/cuda/pieces.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// Strides of which those of dimensions of one element are 0.
Shape strides_of(const Access& a) {
  Shape strides = a.strides;
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] == 1) strides[d] = 0;
  return strides;
}

Piece piece_of_input(const Access& a, const Shape& strides, int64_t adjacent) {
  int64_t even = a.offset;
  for (size_t d = 0; d + 1 < strides.size(); ++d) even = std::gcd(even, strides[d]);
  return {a.dtype, adjacent, strides.back(), even};
}

// Into member x of e: one load where the matrix has all of a piece and the operand lies for it, else one by one. A piece stays one register until it is used:
// taken apart when it is loaded, it would be waited for before the product.
// Where rows are whole pieces there is no other way than the wide load: as a branch beside it, 16 of them took 2500 cycles (H200).
std::string fetch_text(const Piece& piece, size_t number, const std::string& place, bool whole) {
  const std::string from = fmt::format("((const {}*)in[{}] + {})", c_type(piece.dtype), number, place);
  if (piece.elements == 1) return fmt::format("  if (m < M) e.x{}.at[0] = *{};\n", number, from);
  const std::string one_by_one =
      fmt::format("for (int j = 0; j < {0}; ++j)\n    if (m < M && n + j < N) e.x{1}.at[j] = {2}[j * {3}];\n", piece.elements, number, from, piece.along);
  if (piece.width < piece.elements) return "  " + one_by_one;
  if (whole) return fmt::format("  if (m < M && n < N) e.x{} = load_vector<{}>({});\n", number, piece.elements, from);
  return fmt::format("  if (m < M && n + {0} <= N) e.x{1} = load_vector<{0}>({2});\n  else {3}", piece.elements, number, from, one_by_one);
}

}  // namespace

std::string adjacent_epilogue_text(const Problem& problem, size_t base, const Shape& batch, int64_t adjacent) {
  std::string members, fetches, arguments;
  for (size_t k = base; k < problem.in.size(); ++k) {
    const Access& a = problem.in[k];
    const Shape strides = strides_of(a);
    const Piece piece = piece_of_input(a, strides, adjacent);
    members += fmt::format(" Vector<{}, {}> x{};", c_type(a.dtype), piece.elements, k);
    fetches += fetch_text(piece, k, offset_text(strides, 0, a.offset), problem.out[0].shape.back() % adjacent == 0);
    arguments += ", " + load_text(a.dtype, fmt::format("e.x{}.at[{}]", k, piece.elements == 1 ? "0" : "j"));
  }
  const size_t rows = batch.size();
  const std::string value = has_epilogue(problem) ? fmt::format("epilogue_program(sum{})", arguments) : "sum";
  return fmt::format("struct Extras {{{} }};\nstatic inline Extras fetch_extras(const void* const* in, int64_t b, int64_t m, int64_t n) {{\n{}", members,
                     unflatten_text("b", batch, 0, "  ")) +
         fmt::format("  const int64_t i{} = m, i{} = n;\n  Extras e;\n{}  return e;\n}}\n", rows, rows + 1, fetches) +
         fmt::format("static inline out_t finish_of(sum_t sum, const Extras& e, int j) {{ return {}; }}\n", store_text(problem.out[0].dtype, value));
}

}  // namespace amdahl

#include "starter_kernels/cuda/row_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "starter_kernels/cuda/cuda_rows.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/pieces.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

constexpr const char* kIndices = "int64_t o, int64_t r, int64_t j, int64_t k";

const Access& access(const Problem& problem, size_t operand) {
  return operand < problem.in.size() ? problem.in[operand] : problem.out[operand - problem.in.size()];
}

Piece piece_of_operand(const Problem& problem, const RowSpace& rows, size_t operand, int64_t piece) {
  return {access(problem, operand).dtype, piece, rows.stride_along(operand), rows.even(operand)};
}

std::string loaded(const Problem& problem, const RowSpace& rows, int64_t piece, const std::string& name, const std::vector<size_t>& numbers) {
  std::vector<Piece> pieces;
  std::vector<std::string> places;
  for (size_t n : numbers) {
    pieces.push_back(piece_of_operand(problem, rows, n, piece));
    places.push_back(rows.at_text(n));
  }
  return LoadedPiece{name, kIndices, rows.index_text()}.text(numbers, pieces, places);
}

std::vector<size_t> numbers_between(size_t first, size_t end) {
  std::vector<size_t> numbers(end - first);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

int64_t RowPieces::widest(const Problem& problem, const RowSpace& rows) {
  if (rows.columns > 1) return 1;
  const int64_t most = std::gcd(rows.along, int64_t{16}), result = piece_of_operand(problem, rows, problem.in.size(), most).width;
  int64_t widest = 1;
  for (size_t k = 0; k < prologue_inputs(problem); ++k) widest = std::max(widest, piece_of_operand(problem, rows, k, result).width);
  return widest;
}

std::vector<size_t> RowPieces::others() const {
  std::vector<size_t> numbers;
  for (const Factor& factor : factors)
    if (factor.number >= 0) numbers.push_back(static_cast<size_t>(factor.number));
  for (size_t k = epilogue; k < problem.in.size(); ++k) numbers.push_back(k);
  return numbers;
}

std::string RowPieces::text(const Knobs& knobs) const {
  const int64_t piece = piece_of(knobs);
  const auto program = [](const std::optional<PointwiseProgram>& p, const char* name) { return p ? emit_program(*p, name) : ""; };
  return join_text({reading_sizes(rows, knobs), cuda_sizes({{"EARLY", early(knobs)}}), std::string(cuda_text("vector.h")), std::string(cuda_text("pieces.h")),
                    fmt::format("typedef {} real;\ntypedef {} out_t;", register_type(row_type(problem)), c_type(problem.out[0].dtype)),
                    program(prologue_of(problem), "prologue"), program(epilogue_of(problem), "epilogue_program"),
                    loaded(problem, rows, piece, "Inputs", numbers_between(0, prologue_inputs(problem))), loaded(problem, rows, piece, "Others", others()),
                    functions_text(piece), write_text(piece)});
}

std::string RowPieces::functions_text(int64_t piece) const {
  const auto element = [&](size_t number) { return piece_element_text(number, piece_of_operand(problem, rows, number, piece)); };
  const auto with_program = [&](const std::string& program, std::string arguments, size_t first, size_t end) {
    for (size_t k = first; k < end; ++k) arguments += (arguments.empty() ? "" : ", ") + element(k);
    return program.empty() ? arguments : fmt::format("{}({})", program, arguments);
  };
  const size_t inputs = prologue_inputs(problem);
  std::string text;
  text +=
      fmt::format("static inline real input(const Inputs& p, int e) {{ return {}; }}\n", with_program(has_prologue(problem) ? "prologue" : "", "", 0, inputs));
  for (const Factor& factor : factors)
    text += fmt::format("static inline real {}(const Others& p, int e) {{ return {}; }}\n", factor.name,
                        factor.number < 0 ? factor.absent : element(static_cast<size_t>(factor.number)));
  const std::string result = has_epilogue(problem) ? with_program("epilogue_program", "value", epilogue, problem.in.size()) : "value";
  return text + fmt::format("static inline out_t finish(real value, const Others& p, int e) {{ return {}; }}\n", store_text(problem.out[0].dtype, result));
}

std::string RowPieces::write_text(int64_t piece) const {
  const auto store = [&](size_t number, const char* values) {
    const size_t operand = problem.in.size() + number;
    return store_piece_text(number, piece_of_operand(problem, rows, operand, piece), rows.at_text(operand), values);
  };
  std::string text =
      fmt::format("static inline void write(void* const* out, const real (&x)[PIECE], const out_t (&y)[PIECE], {}) {{\n{}", kIndices, rows.index_text());
  if (keep_input) {
    const DType type = problem.out[1].dtype;
    text += fmt::format("  {} kept[PIECE];\n#pragma unroll\n  for (int e = 0; e < PIECE; ++e) kept[e] = {};\n{}", c_type(type), store_text(type, "x[e]"),
                        store(1, "kept"));
  }
  return text + store(0, "y") + "}\n";
}

bool RowPieces::early(const Knobs& knobs) const {
  const int64_t threads = knobs.at("LANES") * knobs.at("LINES"), piece = piece_of(knobs), there = std::min<int64_t>(224, 65536 / threads - 24);
  int64_t taken = piece * static_cast<int64_t>(size_of(row_type(problem))) / 4;
  for (size_t n : others()) taken += piece_of_operand(problem, rows, n, piece).registers();
  return knobs.at("READS") == 1 && taken * pieces_of_thread(rows, knobs) <= there;
}

}  // namespace amdahl

#include "starter_kernels/cuda/pieces.h"

#include <fmt/format.h>

#include <numeric>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {

Piece::Piece(DType type, int64_t piece, int64_t from_one_to_next, int64_t even)
    : dtype(type), elements(from_one_to_next == 0 ? 1 : piece), along(from_one_to_next) {
  if (along == 1) width = std::gcd(std::gcd(elements, 16 / static_cast<int64_t>(size_of(dtype))), even);
}

int64_t Piece::registers() const { return ceil_div(elements * static_cast<int64_t>(size_of(dtype)), 4); }

Knob piece_knob(int64_t widest) {
  Knob knob{"PIECE", {}, widest, "adjacent elements that a thread takes together"};
  for (int64_t piece = 1; piece <= widest; piece *= 2) knob.values.push_back(piece);
  return knob;
}

int64_t piece_of(const Knobs& knobs) {
  const auto piece = knobs.find("PIECE");
  return piece == knobs.end() ? 1 : piece->second;
}

std::string LoadedPiece::text(const std::vector<size_t>& numbers, const std::vector<Piece>& pieces, const std::vector<std::string>& places) const {
  std::string members, loads;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string type = c_type(pieces[i].dtype);
    members += fmt::format(" {} x{}[{}];", type, numbers[i], pieces[i].elements);
    loads += fmt::format("  load_piece<{}, {}>(p.x{}, (const {}*)in[{}] + ({}));\n", pieces[i].width, pieces[i].along, numbers[i], type, numbers[i], places[i]);
  }
  return fmt::format("struct {0} {{{1} }};\nstatic inline {0} load_{0}(const void* const* in, {2}) {{\n{3}  {0} p;\n{4}  return p;\n}}\n", name, members,
                     indices, declarations, loads);
}

std::string piece_element_text(size_t number, const Piece& piece) {
  return load_text(piece.dtype, fmt::format("p.x{}[{}]", number, piece.elements == 1 ? "0" : "e"));
}

std::string store_piece_text(size_t number, const Piece& piece, const std::string& place, const std::string& values) {
  return fmt::format("  store_piece<{}, {}>(({}*)out[{}] + ({}), {});\n", piece.width, piece.along, c_type(piece.dtype), number, place, values);
}

}  // namespace amdahl

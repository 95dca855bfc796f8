#pragma once
// Operands that a kernel takes in pieces of PIECE neighbouring elements, in as few loads and stores as they allow (starter_kernels/cuda/kernels/pieces.h).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// How an operand lies along a piece.
struct Piece {
  DType dtype = DType::kF32;
  int64_t elements = 1;  // 1: the same one for all of a piece
  int64_t along = 1;     // from one to the next
  int64_t width = 1;     // adjacent ones that a load or store takes

  // `even`: of what every piece's place is a multiple (0: of anything). Memory of a card begins on 64 bytes.
  Piece(DType dtype, int64_t piece, int64_t along, int64_t even);

  int64_t registers() const;  // of a thread that holds one
};

// PIECE: what divides `widest`. Variants of before there were pieces have no such knob, and take one element at a time.
Knob piece_knob(int64_t widest);
int64_t piece_of(const Knobs& knobs);

// `struct NAME` of a piece of some inputs, and how it is made: `static inline NAME load_NAME(const void* const* in, INDICES)`.
struct LoadedPiece {
  std::string name, indices, declarations;  // declarations: of what `places` name

  // Texts of problem.in[numbers[i]], the i-th of which begins its piece at places[i].
  std::string text(const std::vector<size_t>& numbers, const std::vector<Piece>& pieces, const std::vector<std::string>& places) const;
};
// Element `e` of input `number` of a loaded piece p, as a value of a register.
std::string piece_element_text(size_t number, const Piece& piece);
// A statement that stores `values`, an array of as many as a piece has, at `place` of out[number].
std::string store_piece_text(size_t number, const Piece& piece, const std::string& place, const std::string& values);

}  // namespace amdahl

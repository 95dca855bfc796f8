#pragma once
// Kernels that fold rows (softmax, normalisations, reductions) see their index space as four nested loops:
//
//   o  rows: the kept dimensions          r, j  along a row: the reduced dimensions, j the one nearest to memory order
//   k  columns: the kept dimension that runs along memory when no reduced one does (K = 1 otherwise: "row mode")
//
// Operands are Accesses over the same space (a reduced output has stride 0 along a row), so masks, scales and broadcast
// parameters are read in place. The prologue, over in[0 …], makes the input of a row; without it
// the input is in[0]. An epilogue as everywhere.

#include <string>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

class RowSpace {
 public:
  // `reduced[d]`: dimension d of `shape` belongs to the row. Operands are all over `shape`. Kinds that have no column mode
  // always get K = 1; the elements of their rows may lie apart.
  RowSpace(const Shape& shape, const std::vector<bool>& reduced, const std::vector<Access>& operands, bool has_column_mode = true);

  int64_t rows = 1, outer = 1, along = 1, columns = 1;  // O, R, J, K

  // `constexpr int64_t O = …, R = …, J = …, K = …;`
  std::string sizes_text() const;
  // The place of an element of `operand`, in elements: an expression in o, r, j, k after index_text().
  std::string at_text(size_t operand) const;
  // Declarations of the indices that o and r stand for.
  std::string index_text() const;
  // Elements are adjacent along the innermost loop.
  bool is_contiguous(size_t operand) const { return strides_[operand][static_cast<size_t>(columns != 1 ? k_ : j_)] == 1; }
  // From an element of an operand to the next along j, and what every other step through it is a multiple of, its offset too (0: there is none).
  int64_t stride_along(size_t operand) const { return strides_[operand][static_cast<size_t>(j_)]; }
  int64_t even(size_t operand) const;

 private:
  Shape dims_;
  std::vector<Shape> strides_;
  std::vector<int64_t> offsets_;
  std::vector<int> o_, r_;  // dimensions of o and of r
  int j_ = 0, k_ = 0;
};

// The type that rows are computed in: f32 or f64, or an integer type.
DType row_type(const Problem& problem);

// `static inline real input(const void* const* in, int64_t o, int64_t r, int64_t j, int64_t k)`; operands 0 … of `space` are
// problem.in's first.
std::string input_text(const Problem& problem, const RowSpace& space);
// `static inline TYPE NAME(in, o, r, j, k)`: one operand, problem.in[number], which is operand `operand` of the space; the
// constant `absent` when number < 0.
std::string operand_text(const Problem& problem, const RowSpace& space, const std::string& name, int number, size_t operand, const std::string& absent);
// `static inline int64_t NAME(o, r, j, k)`: place in an output.
std::string place_text(const RowSpace& space, const std::string& name, size_t operand);
// `static inline out_t finish(real value, in, o, r, j, k)`: the epilogue, whose extra inputs are problem.in[base …], operands
// first_extra … of the space; `out_t` is the element of out[0].
std::string finish_text(const Problem& problem, const RowSpace& space, size_t base, size_t first_extra);

}  // namespace amdahl

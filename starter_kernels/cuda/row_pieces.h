#pragma once
// The operands of kernels that keep rows in registers, in pieces along the row (starter_kernels/cuda/kernels/row_pieces.h is the walk over them).

#include <string>
#include <vector>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {

// Operands of the row space: problem.in, then problem.out.
struct RowPieces {
  struct Factor {
    const char* name;
    int number;  // of problem.in; negative: absent
    const char* absent;
  };

  const Problem& problem;
  const RowSpace& rows;
  std::vector<Factor> factors;  // what the result is made with; the kernel's text calls them
  size_t epilogue;              // its first extra input in problem.in
  bool keep_input = false;      // problem.out[1] is the row as the prologue made it

  // Elements of the widest piece: the result and at least one input of the prologue are read and written so. Others are as narrow as they must be.
  static int64_t widest(const Problem& problem, const RowSpace& rows);

  // Sizes (reading_sizes()), and EARLY: a thread has the registers to load Others together with the row. `real`, `out_t`; Inputs and Others, pieces of what
  // makes a row and of what makes its result, and how they are loaded; `input(Inputs, e)`, a function of (Others, e) for each factor,
  // `out_t finish(real, Others, e)`, `write(out, row, results, o, r, j, k)`.
  std::string text(const Knobs& knobs) const;

 private:
  std::vector<size_t> others() const;
  bool early(const Knobs& knobs) const;
  std::string functions_text(int64_t piece) const;
  std::string write_text(int64_t piece) const;
};

}  // namespace amdahl

#pragma once
// Text for scalar programs: the bodies of pointwise kernels and the epilogues of the others.
//
// Emitted functions are branch-free `static inline` scalar C++ on values in registers, so that a compiler vectorises the loop that calls them
// (`#pragma omp simd`). Functions `scalar::…` are the backend's: a text that defines them must precede.

#include <string>
#include <string_view>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// C type of a dtype in memory ("float", "int64_t", "_Float16", "uint16_t" for bf16, "uint8_t" for bool) and in registers
// (half floats are float, bool is bool).
std::string c_type(DType dtype);
std::string register_type(DType dtype);
// Text that turns an element in memory (an lvalue of c_type) into its register form, and a register value into c_type.
std::string load_text(DType dtype, const std::string& element);
std::string store_text(DType dtype, const std::string& value);

// `static inline R NAME(T0 x0, T1 x1, …)` for one result; for several: `static inline void NAME(T0 x0, …, R0* r0, R1* r1, …)`.
std::string emit_program(const PointwiseProgram& program, std::string_view name);

// `static inline OUT epilogue(float acc, const void* const* in, int64_t i0, …, int64_t i<rank-1>)`: loads the extra inputs
// in[base …] at that point of out[0]'s shape and applies the epilogue; returns acc unchanged when there is none.
// OUT is c_type(out[0].dtype): the value to store (half floats already rounded). `acc` is the epilogue's first input type.
// Also `constexpr bool HAS_EPILOGUE`. Index arguments are of out[0].shape.
std::string emit_epilogue(const Problem& problem, size_t base);

// The expression `base[offset + i0*s0 + …]` of an access for index names, e.g. {"i0", "i1"}, cast from `pointer`.
std::string emit_load(const Access& access, const std::string& pointer, const std::vector<std::string>& indices);

}  // namespace amdahl

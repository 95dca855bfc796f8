#pragma once
// A text for NVIDIA cards that packs its second operand, in two launches over a workspace: out = in[0] - in[1], `n` floats by as many threads. `shared`: dynamic
// shared memory that the second launch asks for.

#include <fmt/format.h>

#include <string>

namespace amdahl::testing {

inline std::string packing_cuda_text(int n, int shared = 0) {
  return fmt::format(
      "struct Launch {{ unsigned kernel, grid[3], block[3], shared; }};\nstruct Pack {{ unsigned long long bytes; Launch launch; }};\n"
      "struct Operands {{ const float* in[2]; float* out; float* workspace; }};\n"
      "struct Packed {{ const float* raw; float* packed; }};\n"
      "extern \"C\" __global__ void amdahl_kernel_0(const __grid_constant__ Operands o) {{ o.workspace[threadIdx.x] = o.in[1][threadIdx.x]; }}\n"
      "extern \"C\" __global__ void amdahl_kernel_1(const __grid_constant__ Operands o) {{\n"
      "  o.out[threadIdx.x] = o.in[0][threadIdx.x] + o.workspace[threadIdx.x];\n}}\n"
      "extern \"C\" __global__ void amdahl_kernel_2(const __grid_constant__ Packed o) {{ o.packed[threadIdx.x] = -o.raw[threadIdx.x]; }}\n"
      "#define TABLE extern \"C\" __constant__ const\n"
      "TABLE Launch amdahl_launches[] = {{{{0, {{1, 1, 1}}, {{{0}, 1, 1}}, 0}}, {{1, {{1, 1, 1}}, {{{0}, 1, 1}}, {1}}}}};\n"
      "TABLE unsigned long long amdahl_workspace_bytes = {2};\n"
      "TABLE Pack amdahl_packs[] = {{{{0}}, {{{2}, {{2, {{1, 1, 1}}, {{{0}, 1, 1}}, 0}}}}}};\n",
      n, shared, 4 * n);
}

}  // namespace amdahl::testing

// amdahl-bench-openblas MODEL.onnx INPUT_DIR THREADS: products by OpenBLAS, a peer of bench/kernels/run.
//
// B is constant, so it may lie either way round; a product of one row is one of a matrix and a vector too.

#include <cblas.h>

#include "bench/kernels/peer_arm.h"
#include "bench/kernels/product.h"

using namespace amdahl;

namespace {

HugeArray transposed(const float* from, int64_t rows, int64_t columns) {
  const HugeArray to = huge_array(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
  return to;
}

std::vector<Run> openblas_product(const Operands& operands, int threads) {
  openblas_set_num_threads(threads);
  const Product p = product_of(operands);
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), depth = static_cast<int>(p.depth);
  const HugeArray as_is = copy_of(operands.constant("c0")), turned = transposed(p.b, p.depth, p.n);
  std::vector<Run> ways = {[=] { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, depth, 1, p.a, depth, as_is.get(), n, 0, p.c, n); },
                           [=] { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, depth, 1, p.a, depth, turned.get(), depth, 0, p.c, n); }};
  if (m == 1) {
    ways.push_back([=] { cblas_sgemv(CblasRowMajor, CblasTrans, depth, n, 1, as_is.get(), n, p.a, 1, 0, p.c, 1); });
    ways.push_back([=] { cblas_sgemv(CblasRowMajor, CblasNoTrans, n, depth, 1, turned.get(), depth, p.a, 1, 0, p.c, 1); });
  }
  return ways;
}

}  // namespace

int main(int argc, char** argv) { return peer_main(argc, argv, openblas_product); }

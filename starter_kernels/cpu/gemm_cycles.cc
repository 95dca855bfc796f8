#include "starter_kernels/cpu/gemm_cycles.h"

#include <numeric>

#include "base/device_info.h"
#include "starter_kernels/cpu/tile_cycles.h"

namespace amdahl {
namespace {

constexpr double kL2Line = 64.0 / 34;                // cycles a line of 64 bytes from L2: 85 GB/s at 2.5 GHz
constexpr double kL3Line = 5;                        // from L3, partly hidden
constexpr double kColdLine = 8, kFetchedLine = 1.5;  // a line of weights seen first: left to the hardware, fetched a panel ahead
constexpr double kAgainLine = 3.2;                   // a line of weights for the next block of rows
constexpr double kPackedLine = 8;                    // packing a line of B at every call
constexpr double kStoredLine = 3;                    // a line of C
constexpr double kAddedLine = 2.5;                   // and again for each further block of K, from L2; twice that from L3
constexpr double kPackedElement = 1.5;               // an element of A

double up(int64_t n, int64_t d) { return static_cast<double>((n + d - 1) / d); }

// A panel of B that exceeds L1 is read from L2 for every tile; how much of that shows grows with the excess.
double panel_of_b(const GemmBlocking& b, const DeviceInfo& device) {
  const double reads = static_cast<double>(b.k * b.vectors) * up(b.rows, b.mr) * static_cast<double>(b.lanes) / 16;
  if (b.a_stays) return reads * (b.block_k * b.block_vectors * b.lanes * 4 < device.l2_bytes / 2 ? 0.5 * kL2Line : kL3Line);
  const double of_l1 = static_cast<double>(b.block_k * b.nrv * b.lanes * 4) / static_cast<double>(device.l1d_bytes);
  return reads * kL2Line * (of_l1 > 1.6 ? 0.4 : of_l1 > 0.75 ? 0.12 : 0);
}

double panels_of_a(const GemmBlocking& b, const DeviceInfo& device) {
  const double tiles_across = up(b.vectors, b.nrv), elements = static_cast<double>(b.rows * b.k);
  double cycles = 0;
  if (!b.a_stays && b.block_rows * b.block_k * 4 > device.l1d_bytes / 2) cycles += 0.25 * elements * tiles_across / 16 * kL2Line;
  if (b.a_row_bytes == 0) return cycles + kPackedElement * elements * up(b.vectors, b.block_vectors);
  // Rows that start in few of L1's 64 sets drive each other out of its 8 ways.
  const int64_t sets = b.a_row_bytes % 64 == 0 ? 64 / std::gcd(b.a_row_bytes / 64, int64_t{64}) : 64;
  return cycles + (b.mr > 4 * sets ? 0.3 * elements * tiles_across : 0);
}

}  // namespace

double gemm_cycles(const GemmBlocking& b, const DeviceInfo& device) {
  const double lines_of_b = static_cast<double>(b.k * b.vectors * b.lanes) / 16, lines_of_c = static_cast<double>(b.rows * b.vectors * b.lanes) / 16;
  double cycles = static_cast<double>(b.k) * tile_cycles(b.rows, b.vectors, b.mr, b.nrv);
  cycles += panel_of_b(b, device) + panels_of_a(b, device);
  cycles += lines_of_b * ((b.b_prefetched ? kFetchedLine : kColdLine) + (b.b_packed ? 0 : kPackedLine));
  if (!b.a_stays) cycles += lines_of_b * (up(b.rows, b.block_rows) - 1) * kAgainLine;
  const bool c_stays = b.block_rows * b.block_vectors * b.lanes * 4 < device.l2_bytes / 2;
  return cycles + lines_of_c * (kStoredLine + (up(b.k, b.block_k) - 1) * kAddedLine * (c_stays ? 1 : 2));
}

}  // namespace amdahl

#pragma once
// What counting says of a blocked matrix product before it is run: cycles a thread, from the tiles, and from how often each operand
// passes each cache. It ranks blockings of one problem; it does not predict times.
//
// The blocking is BLIS's (Van Zee and van de Geijn, 2015). Its constants were fitted on a core with 32 KiB of L1 and 1 MiB of L2 (Cascade
// Lake, AVX-512): 40 random blockings of each of 128x3072x768, 128x768x3072 and 128x768x768, weights cold, in turns; rank correlation with the
// times 0.86, 0.72 and 0.57 (the last in a noisy hour), and of the six it put first the best came within 3% of the best of all 40.

#include <cstdint>

#include "base/device_info.h"

namespace amdahl {

// One thread's part of C = A B: rows x K times K x vectors.
struct GemmBlocking {
  int64_t rows = 0, vectors = 0, k = 0;  // vectors: of `lanes` elements of 4 bytes
  int64_t lanes = 8;
  int64_t mr = 1, nrv = 1;  // register tile
  int64_t block_rows = 0, block_k = 0, block_vectors = 0;
  int64_t a_row_bytes = 0;  // between rows of an A that is read where it is; 0: packed panels
  bool a_stays = false;     // a panel of A stays in L1 while B passes; else a panel of B while A passes
  bool b_packed = true;     // B lies in panels already
  bool b_prefetched = false;
};

double gemm_cycles(const GemmBlocking& blocking, const DeviceInfo& device);

}  // namespace amdahl

// Cycles counted for tiles and blockings: against hand counts, and in the order that was measured.

#include "starter_kernels/cpu/gemm_cycles.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/tile_cycles.h"

namespace amdahl {
namespace {

// 64 x 64 in vectors of 8: 8 vectors a row. A tile of 6 x 2 takes 6 cycles, and half a one beside; 10 of them and one of 4 x 2 (4) a column.
TEST(TileCycles, AreThoseCountedByHand) {
  EXPECT_DOUBLE_EQ(tile_cycles(64, 8, 6, 2), 4 * (10 * 6.5 + 4.5));
  EXPECT_DOUBLE_EQ(tile_cycles(64, 8, 1, 1), 8 * 64 * 4.5);            // an FMA waits for the one before
  EXPECT_DOUBLE_EQ(tile_cycles(64, 8, 8, 3), 2 * 8 * 12.5 + 8 * 8.5);  // two tiles of 3 vectors and one of 2
}

// One of two threads of 128 x 3072 x 768 with weights in panels; on the machine that the constants were fitted on.
class GemmCycles : public ::testing::Test {
 protected:
  static GemmBlocking good() {
    GemmBlocking b;
    b.rows = b.block_rows = 128, b.vectors = b.block_vectors = 96, b.k = 768, b.block_k = 256;
    b.lanes = 16, b.mr = 8, b.nrv = 3, b.b_prefetched = true;
    return b;
  }
  static double cycles(const GemmBlocking& b) {
    DeviceInfo machine;
    machine.l1d_bytes = 32 << 10, machine.l2_bytes = 1 << 20;
    return gemm_cycles(b, machine);
  }
};

TEST_F(GemmCycles, AreAtLeastThoseOfTheMultiplications) { EXPECT_GT(cycles(good()), 768.0 * 128 * 96 / 2); }

TEST_F(GemmCycles, GrowWithEachPassThatIsNotNeeded) {
  const auto worse = [](auto change) {
    GemmBlocking b = good();
    change(b);
    return cycles(b) / cycles(good());
  };
  // Measured beside the good one: 0.87 and 0.78 of its speed for two and six blocks of rows, 0.87 without prefetch, 0.93 for twelve blocks of K.
  EXPECT_GT(worse([](GemmBlocking& b) { b.block_rows = 96; }), 1.02);
  EXPECT_GT(worse([](GemmBlocking& b) { b.block_rows = 24; }), worse([](GemmBlocking& b) { b.block_rows = 96; }));
  EXPECT_GT(worse([](GemmBlocking& b) { b.b_prefetched = false; }), 1.05);
  EXPECT_GT(worse([](GemmBlocking& b) { b.block_k = 64; }), 1.02);
  EXPECT_GT(worse([](GemmBlocking& b) { b.b_packed = false; }), 1.05);
  EXPECT_GT(worse([](GemmBlocking& b) { b.a_stays = true; }), 1.2);
  EXPECT_GT(worse([](GemmBlocking& b) { b.mr = 4, b.nrv = 6; }), 1.1);  // a panel of B far beyond L1
  EXPECT_GT(worse([](GemmBlocking& b) { b.mr = 6, b.nrv = 2; }), 1.0);
}

TEST_F(GemmCycles, RowsThatShareSetsOfL1AreBetterPacked) {
  GemmBlocking packed = good(), in_place = good();
  packed.k = in_place.k = 3072;
  packed.mr = in_place.mr = 14, packed.nrv = in_place.nrv = 2;
  in_place.a_row_bytes = 3072 * 4;  // every row begins in the same set
  EXPECT_LT(cycles(packed), cycles(in_place));
  in_place.a_row_bytes = 3088 * 4;
  EXPECT_LT(cycles(in_place), cycles(packed));
}

}  // namespace
}  // namespace amdahl

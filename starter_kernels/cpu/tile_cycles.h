#pragma once

#include <cstdint>

namespace amdahl {

// What counting instructions says of a register tiling: cycles a step of k over `rows` x `vectors` accumulators in tiles of
// `tile_rows` x `tile_vectors`, smaller ones at the edges. Two FMAs or two loads a cycle, and an FMA takes four. Half a cycle a tile
// stands for what every tile costs beside, so that of equal tilings the one with fewest tiles wins.
double tile_cycles(int64_t rows, int64_t vectors, int64_t tile_rows, int64_t tile_vectors);

}  // namespace amdahl

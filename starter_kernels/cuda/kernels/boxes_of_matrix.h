// What a product that copies boxes multiplies, where both operands are matrices.

static inline void copy_tile_of_a(void* to, const TensorMap* map, int64_t k, int64_t m, uint64_t* barrier) { copy_box(to, map, int(k), int(m), barrier); }
static inline uint16_t element_of_b(const void* b, int64_t k, int64_t n) { return ((const uint16_t*)b)[B_OFFSET + k * B_ROW + n * B_COLUMN]; }

TABLE Boxes amdahl_boxes[] = {{0, A_OFFSET * 2, M, K, A_ROW * 2, TILE_M, LINE}};

// PIECE neighbouring elements of an operand in registers. They lie ALONG apart; where they are adjacent, WIDTH of them are one load or store.
template <int WIDTH, int64_t ALONG, class T, int COUNT>
static inline void load_piece(T (&to)[COUNT], const T* from) {
#pragma unroll
  for (int first = 0; first < COUNT; first += WIDTH) {
    const Vector<T, WIDTH> some = load_vector<WIDTH>(from + first * ALONG);
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) to[first + i] = some.at[i];
  }
}

template <int WIDTH, int64_t ALONG, class T, int COUNT>
static inline void store_piece(T* to, const T (&from)[COUNT]) {
#pragma unroll
  for (int first = 0; first < COUNT; first += WIDTH) {
    Vector<T, WIDTH> some;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) some.at[i] = from[first + i];
    *(Vector<T, WIDTH>*)(to + first * ALONG) = some;
  }
}

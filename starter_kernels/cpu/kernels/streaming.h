// Stores that bypass the caches: a result larger than them is not read back soon, and an ordinary store first reads the
// line it is going to overwrite (a third of the traffic of a copy).

#ifdef __AVX__
typedef long long stream_line __attribute__((vector_size(32), aligned(1)));
typedef long long stream_place __attribute__((vector_size(32), may_alias));

// 32 bytes to an address that is a multiple of 32.
static inline void stream_piece(void* dst, const void* src) {
#ifdef __clang__
  __builtin_nontemporal_store((stream_place) * (const stream_line*)src, (stream_place*)dst);
#else
  __builtin_ia32_movntdq256((stream_place*)dst, *(const stream_line*)src);
#endif
}

// Like memcpy; whole 32-byte pieces of dst are streamed, its ragged ends stored as usual.
static inline void stream_copy(void* dst, const void* src, size_t bytes) {
  char* d = (char*)dst;
  const char* s = (const char*)src;
  const size_t head = (0 - (size_t)d) & 31;
  if (bytes < head + 32) {
    memcpy(d, s, bytes);
    return;
  }
  memcpy(d, s, head);
  size_t at = head;
  for (; at + 32 <= bytes; at += 32) stream_piece(d + at, s + at);
  memcpy(d + at, s + at, bytes - at);
}
// Streamed stores are not ordered with others: before another thread may look.
static inline void stream_fence() { __builtin_ia32_sfence(); }
#else
static inline void stream_piece(void* dst, const void* src) { memcpy(dst, src, 32); }
static inline void stream_copy(void* dst, const void* src, size_t bytes) { memcpy(dst, src, bytes); }
static inline void stream_fence() {}
#endif

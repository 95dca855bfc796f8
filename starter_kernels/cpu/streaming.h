// Stores that bypass the caches: a result larger than them is not read back soon, and an ordinary store first reads the
// line it is going to overwrite (a third of the traffic of a copy).

#ifdef __AVX__
typedef long long stream_line __attribute__((vector_size(32), aligned(1)));

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
  for (; at + 32 <= bytes; at += 32) __builtin_ia32_movntdq256((long long __attribute__((vector_size(32)))*)(d + at), *(const stream_line*)(s + at));
  memcpy(d + at, s + at, bytes - at);
}
// Streamed stores are not ordered with others: before another thread may look.
static inline void stream_fence() { __builtin_ia32_sfence(); }
#else
static inline void stream_copy(void* dst, const void* src, size_t bytes) { memcpy(dst, src, bytes); }
static inline void stream_fence() {}
#endif

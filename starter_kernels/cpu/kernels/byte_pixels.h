// From sums at places of a prepared image (conv_prepare.h) to what a convolution of bytes stores: conv_bytes and conv_bytes_depthwise.

// The pixels among places [begin, end) of a depth side by side, and how many there are. Whole vectors are copied: the next row overwrites what is too much.
static int64_t keep_pixels(const ACC* sums, int64_t begin, int64_t end, ACC* pixels) {
  int64_t kept = 0;
  for (int64_t row = begin / WQ; row * WQ < end; ++row) {
    const int64_t first = max_of(begin, row * WQ), last = min_of(end, row * WQ + OW);
    for (int64_t place = first; place < last; place += LANES) store(pixels + kept + place - first, load(sums + place - begin));
    kept += max_of(last - first, 0);
  }
  return kept;
}

// `kept` pixels of output channel o, from pixel p on.
static void finish_channel(const void* const* in, out_t* out, int64_t n, int64_t o, int64_t p, const ACC* sums, int64_t kept) {
  out_t* __restrict to = out + (n * O + o) * (OD * OH * OW) + p;  // a byte may alias anything: scales would be read again after each
  const Inputs inputs(in);
  int64_t done = 0;
#ifdef VECTOR_EPILOGUE
  const RowValues values = row_values(inputs.of, n, o, 0);
  for (; done + LANES <= kept; done += LANES) write_vector(to + done, finish_vector(load(sums + done), values, inputs.of, n, o, p + done));
  // What is left over again with what is before it, in one vector.
  if (const int64_t last = kept - LANES; done < kept && last >= 0)
    write_vector(to + last, finish_vector(load(sums + last), values, inputs.of, n, o, p + last)), done = kept;
#endif
#pragma omp simd
  for (int64_t i = done; i < kept; ++i) to[i] = finish(sums[i], inputs.of, n, o, p + i);
}

// RMSNorm: y = x / sqrt(mean(x^2) + eps) * scale over each row of R x J elements. The row is read from memory once, and stays in L1 or L2
// while its squares are summed: where it lies, or in a scratch row if a prologue makes it. The prelude's term() and inverse_of() say what
// is summed of an element and what factor the sum makes: a norm is the same walk. OVERLAP: a row is summed while the one before it is written.

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const auto squares = [](auto v) { return term(v); };
  for_each_task(workspace, [&](int64_t first, int64_t last, real* scratch) {
    real sum = 0;
    for (int64_t o = first; o < last; ++o) {
      const real* x = DIRECT ? direct(in, o) : scratch;
      if (!OVERLAP || o == first) {
        for (int64_t r = 0; r < R; ++r) read_part(in, scratch, o, r, 0, J);
        sum = sum_over(x, R * J, DIRECT ? x + J : nullptr, squares);
      }
      const real inverse = inverse_of(sum);
      write_statistics(out, o, 0, inverse);
      for (int64_t r = 0; r < R; ++r) {
        write_input(out, x + r * J, o, r);
        const auto result = [&](int64_t j) {
          return finish(x[r * J + j] * inverse * scale(in, o, r, j, 0) + shift(in, o, r, j, 0), in, o, r, j, 0);
        };
        if (OVERLAP && o + 1 < last) sum = write_and_sum((out_t*)out[0], o, direct(in, o + 1), squares, result);
        else write_part((out_t*)out[0], o, r, x + J, result);
      }
    }
  });
}

// RMSNorm: y = x / sqrt(mean(x^2) + eps) * scale over each row of R x J elements. The row is read once into a scratch row
// that stays in L1 or L2 while its squares are summed. The prelude's term() and inverse_of() say what is summed of an element
// and what factor the sum makes: a norm is the same walk.

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  out_t* y = (out_t*)out[0];
  for_each_row(workspace, [&](int64_t o, real* x) {
    const Held here = held(in);
    real sum = 0;
    for (int64_t r = 0; r < R; ++r)
#pragma omp simd reduction(+ : sum)
      for (int64_t j = 0; j < J; ++j) {
        const real v = input(here.at, o, r, j, 0);
        x[r * J + j] = v;
        sum += term(v);
      }
    const real inverse = inverse_of(sum);
    write_statistics(out, o, 0, inverse);
    for (int64_t r = 0; r < R; ++r) {
      write_input(out, x + r * J, o, r);
#if STREAM
      out_t* result = (out_t*)(x + r * J);
#pragma omp simd
      for (int64_t j = 0; j < J; ++j)
        result[j] = finish(x[r * J + j] * inverse * scale(in, o, r, j, 0) + shift(in, o, r, j, 0), in, o, r, j, 0);
      stream_copy(y + place(o, r, 0, 0), result, J * sizeof(out_t));
#else
#pragma omp simd
      for (int64_t j = 0; j < J; ++j)
        y[place(o, r, j, 0)] = finish(x[r * J + j] * inverse * scale(in, o, r, j, 0) + shift(in, o, r, j, 0), in, o, r, j, 0);
#endif
    }
  });
}

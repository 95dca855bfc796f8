// Pointwise: every element of the outputs from the elements of the inputs at the same place.
//
// The index space is ROWS x COLS (neighbouring dimensions merged); run_row, generated above, computes elements [begin, end)
// of one row in a vector loop. A task is GRAIN elements in flat order: a long row is split, short rows are taken together.
// Below about 10 us of work a second thread costs more than it brings: TASKS is 1 then and no team is woken.

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
#pragma omp parallel for schedule(static) num_threads(THREADS) if (TASKS > 1)
  for (int64_t task = 0; task < TASKS; ++task) {
    const int64_t last = task + 1 < TASKS ? (task + 1) * TASK_SIZE : ROWS * COLS;
    for (int64_t at = task * TASK_SIZE; at < last;) {
      const int64_t row = at / COLS, begin = at % COLS;
      const int64_t end = last - at < COLS - begin ? begin + (last - at) : COLS;
      run_row(in, out, row, begin, end);
      at += end - begin;
    }
    stream_fence();
  }
}

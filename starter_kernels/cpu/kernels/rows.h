// What kernels that fold rows share: tasks of whole rows, one scratch row for each thread.
extern "C" int omp_get_thread_num(void);
extern "C" size_t amdahl_workspace_bytes(void) { return THREADS * SCRATCH_BYTES; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

// run(first, last, scratch): rows [first, last), until every row had its turn.
template <class Task>
static inline void for_each_task(void* workspace, Task run) {
#pragma omp parallel for schedule(static) num_threads(THREADS) if (TASKS > 1)
  for (int64_t task = 0; task < TASKS; ++task) {
    real* scratch = (real*)((char*)workspace + omp_get_thread_num() * SCRATCH_BYTES);
    const int64_t first = task * ROWS_PER_TASK, last = first + ROWS_PER_TASK < ROWS ? first + ROWS_PER_TASK : ROWS;
    run(first, last, scratch);
    stream_fence();
  }
}

// row(number, scratch) for every row.
template <class Row>
static inline void for_each_row(void* workspace, Row row) {
  for_each_task(workspace, [&](int64_t first, int64_t last, real* scratch) {
    for (int64_t i = first; i < last; ++i) row(i, scratch);
  });
}

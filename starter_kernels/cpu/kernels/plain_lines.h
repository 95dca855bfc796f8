// Lines along an axis of an array [OUTER, LENGTH, INNER], in groups of neighbours that are walked together: a line alone waits for itself at each step (a sum
// of floats three to four cycles), and neighbours of an inner axis are vectors.

constexpr int64_t GROUP = INNER > 1 ? 64 : 8, LINE_STEP = INNER > 1 ? 1 : LENGTH;

// walk(first element of the first line, its number, how many lines); on all threads where there is enough to do.
template <typename Walk>
static inline void for_groups(Walk walk) {
  constexpr int64_t SETS = INNER > 1 ? OUTER : INNER, LINES = INNER > 1 ? INNER : OUTER, GROUPS = (LINES + GROUP - 1) / GROUP;
#pragma omp parallel for schedule(static) num_threads(THREADS) if (OUTER * LENGTH * INNER > 30000)
  for (int64_t task = 0; task < SETS * GROUPS; ++task) {
    const int64_t set = task / GROUPS, first = task % GROUPS * GROUP;
    walk(set * LENGTH * INNER + first * LINE_STEP, set * LINES + first, LINES - first < GROUP ? LINES - first : GROUP);
  }
}

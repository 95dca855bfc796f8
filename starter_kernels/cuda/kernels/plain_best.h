static inline int64_t place(const Line& line, int64_t l) { return (line.o * LENGTH + l) * K + line.k; }

// The best element of a line so far, of equal ones the first or the last. NaNs are better than all and equal to one another.
template <class T> struct Best {
  T value;
  int64_t index;  // -1: of nothing yet
};
template <class T> static inline Best<T> of_lane(Best<T> b, int distance) { return {of_lane(b.value, distance), of_lane(b.index, distance)}; }

template <bool OF_LARGEST, bool OF_LAST, class T> static inline Best<T> better(Best<T> a, Best<T> b) {
  if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
  if (OF_LARGEST ? is_above(a.value, b.value) : is_below(a.value, b.value)) return a;
  if (OF_LARGEST ? is_above(b.value, a.value) : is_below(b.value, a.value)) return b;
  return (a.index < b.index) != OF_LAST ? a : b;
}

// The best element of in[0] in a line.
template <bool OF_LARGEST, bool OF_LAST> static inline int64_t index_of_best(const IN0_t* x, const Line& line) {
  typedef Best<arithmetic<IN0_t>::type> Candidate;
  const auto merge = [](Candidate a, Candidate b) { return better<OF_LARGEST, OF_LAST>(a, b); };
  Candidate best = {0, -1};
  for_elements(line, [&](int64_t, int64_t, int64_t l) { best = merge(best, {number(x[place(line, l)]), l}); });
  return over_line(best, merge).index;
}

// What a query's result in one column is: its weighed values over the sum of its weights.

static inline sum_t result_of(const Operands& o, int64_t head, int64_t column, sum_t values, sum_t weights) {
  if (ZERO_NAN_WEIGHTS && weights != weights) {  // the weights become zeros; values that are no numbers show
    const Values v = values_of(o, head);
    values = 0;
    for (int64_t t = 0; t < T; ++t) values += sum_t(0) * load_value<int64_t>(v, t, column);
    return values;
  }
  return values * (ZERO_HIDDEN_ROWS && weights == 0 ? sum_t(0) : sum_t(1) / weights);
}

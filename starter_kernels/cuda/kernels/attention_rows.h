// Keys and values of a head. Those from FIRST_KEYS on, where there are any, lie in tensors of their own.

enum : bool { APPENDED = FIRST_KEYS < T };

struct Keys {
  const k_t *first, *more;
};
struct Values {
  const v_t *first, *more;
};

static inline Keys keys_of(const Operands& o, int64_t head) {
  return {(const k_t*)o.in[1] + k_head(head), APPENDED ? (const k_t*)o.in[MORE_K_INPUT] + more_k_head(head) : nullptr};
}
static inline Values values_of(const Operands& o, int64_t head) {
  return {(const v_t*)o.in[2] + v_head(head), APPENDED ? (const v_t*)o.in[MORE_V_INPUT] + more_v_head(head) : nullptr};
}

// Number d of key t, and c of its value. Index: holds what is within a head.
template <class Index>
static inline auto load_key(const Keys& k, int64_t t, Index d) {
  const k_t* x = &k.first[Index(t) * Index(K_ROW) + d * Index(K_COLUMN)];
  if (APPENDED && t >= FIRST_KEYS) x = k.more + (Index(t - FIRST_KEYS) * Index(MORE_K_ROW) + Index(d) * Index(MORE_K_COLUMN));
  return load_k(*x);
}
template <class Index>
static inline auto load_value(const Values& v, int64_t t, Index c) {
  const v_t* x = &v.first[Index(t) * Index(V_ROW) + c * Index(V_COLUMN)];
  if (APPENDED && t >= FIRST_KEYS) x = v.more + (Index(t - FIRST_KEYS) * Index(MORE_V_ROW) + Index(c) * Index(MORE_V_COLUMN));
  return load_v(*x);
}

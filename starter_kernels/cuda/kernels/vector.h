// Adjacent numbers that one load or store takes: their address is a multiple of the whole.
template <class T, int COUNT>
struct alignas(COUNT * sizeof(T)) Vector {
  T at[COUNT];
};

template <int COUNT, class T>
static inline Vector<T, COUNT> load_vector(const T* from) {
  return *(const Vector<T, COUNT>*)from;
}

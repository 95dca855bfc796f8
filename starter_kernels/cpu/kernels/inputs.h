// A loop's own copy of the pointers to its inputs. Stores of bytes may alias anything, the pointers in `in` too: they would be read again after each, and no
// compiler makes vectors of such a loop. Wants INPUTS.
struct Inputs {
  const void* of[INPUTS];
  explicit Inputs(const void* const* in) {
    for (int i = 0; i < INPUTS; ++i) of[i] = in[i];
  }
};

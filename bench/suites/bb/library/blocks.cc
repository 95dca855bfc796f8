#include "blocks.h"

namespace aten {
namespace {

// The dimensions of a block alone.
Tensor inner(const Tensor& whole, int outer, char* data) {
  Tensor t = whole;
  t.data = data;
  t.rank = whole.rank - outer;
  std::copy_n(whole.size + outer, t.rank, t.size);
  std::copy_n(whole.stride + outer, t.rank, t.stride);
  return t;
}

template <class C>
Block<C> shaped(const Tensor& t) {
  Block<C> block;
  block.size.assign(t.size, t.size + t.rank);
  int64_t n = 1;
  for (int64_t s : block.size) n *= s;
  block.numbers.resize(n);
  return block;
}

template <class C>
void runAs(void (*kernel)(Blocks<C>&, const double*), const Call& call) {
  Blocks<C> blocks;
  for (int i = 0; i < call.count; ++i) blocks.push_back(shaped<C>(inner(call.tensors[i], call.outer, nullptr)));
  Walk(call.tensors, call.count, call.outer).eachIndex([&](const std::vector<char*>& data) {
    for (int i = call.outputs; i < call.count; ++i) {
      Tensor t = inner(call.tensors[i], call.outer, data[i]);
      C* to = blocks[i].numbers.data();
      Walk(&t, 1, t.rank).eachRow([&](auto& at, int64_t n, auto& stride) { load(t.type, at[0], stride[0], n, to), to += n; });
    }
    kernel(blocks, call.reals);
    for (int i = 0; i < call.outputs; ++i) {
      Tensor t = inner(call.tensors[i], call.outer, data[i]);
      const C* from = blocks[i].numbers.data();
      Walk(&t, 1, t.rank).eachRow([&](auto& at, int64_t n, auto& stride) { store(t.type, at[0], stride[0], n, from), from += n; });
    }
  });
}

}  // namespace

void runBlocks(const BlockKernel& kernel, const Call& call) {
  if (call.isFloating() || !kernel.integers) runAs<double>(kernel.reals, call);
  else runAs<int64_t>(kernel.integers, call);
}

}  // namespace aten

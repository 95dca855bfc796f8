#include "pointwise.h"

namespace aten {
namespace {

template <class C>
void runAs(Chunk<C> kernel, const Call& call) {
  std::vector<std::array<C, kChunk>> buffers(call.count);
  std::vector<const C*> in;
  for (int i = 1; i < call.count; ++i) in.push_back(buffers[i].data());
  Walk(call.tensors, call.count, call.tensors[0].rank).eachRow([&](auto& data, int64_t n, auto& stride) {
    for (int64_t start = 0; start < n; start += kChunk) {
      int64_t size = std::min(kChunk, n - start);
      for (int i = 1; i < call.count; ++i) {
        Type type = call.tensors[i].type;
        load(type, data[i] + start * stride[i] * bytes(type), stride[i], size, buffers[i].data());
      }
      kernel(buffers[0].data(), in.data(), size, call.reals);
      Type type = call.tensors[0].type;
      store(type, data[0] + start * stride[0] * bytes(type), stride[0], size, buffers[0].data());
    }
  });
}

}  // namespace

void runPointwise(const Pointwise& kernel, const Call& call) {
  if (call.isFloating()) runAs<double>(kernel.reals, call);
  else runAs<int64_t>(kernel.integers, call);
}

}  // namespace aten

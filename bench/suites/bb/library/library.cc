// The door of the library: kernels by name, and what moves or reads bytes without computing.
#include "blocks.h"
#include "pointwise.h"

namespace aten {
namespace {

// Between tensors of one shape and type: bytes as they are.
void move(const Call& call) {
  int64_t width = bytes(call.tensors[0].type);
  Walk(call.tensors, 2, call.tensors[0].rank).eachRow([&](auto& data, int64_t n, auto& stride) {
    if (stride[0] == 1 && stride[1] == 1) {
      std::memmove(data[0], data[1], size_t(n * width));
      return;
    }
    for (int64_t i = 0; i < n; ++i) std::memcpy(data[0] + i * stride[0] * width, data[1] + i * stride[1] * width, size_t(width));
  });
}

// 0, 1, 2, … along a line of int64_t.
void number(const Call& call) {
  for (int64_t i = 0; i < call.tensors[0].size[0]; ++i) reinterpret_cast<int64_t*>(call.tensors[0].data)[i * call.tensors[0].stride[0]] = i;
}

// Exclusive or of the bits of each block: out of 64 bits; numbers of 64 bits.
void hash(const Call& call) {
  Walk(call.tensors, 2, call.outer).eachIndex([&](const std::vector<char*>& data) {
    Tensor t = call.tensors[1];
    t.data = data[1], t.rank -= call.outer;
    std::copy_n(call.tensors[1].size + call.outer, t.rank, t.size);
    std::copy_n(call.tensors[1].stride + call.outer, t.rank, t.stride);
    uint64_t bits = 0;
    Walk(&t, 1, t.rank).eachIndex([&](const std::vector<char*>& at) {
      if (isFloating(t.type)) {
        double x = 0;
        load(t.type, at[0], 1, 1, &x);
        bits ^= std::bit_cast<uint64_t>(x);
      } else {
        int64_t x = 0;
        load(t.type, at[0], 1, 1, &x);
        bits ^= uint64_t(x);
      }
    });
    std::memcpy(data[0], &bits, sizeof bits);
  });
}

bool runFrom(const std::map<std::string_view, BlockKernel>& kernels, std::string_view name, const Call& call) {
  auto found = kernels.find(name);
  if (found == kernels.end()) return false;
  runBlocks(found->second, call);
  return true;
}

bool runFrom(const PointwiseKernels& kernels, std::string_view name, const Call& call) {
  auto found = kernels.find(name);
  if (found == kernels.end()) return false;
  runPointwise(found->second, call);
  return true;
}

void run(std::string_view name, const Call& call) {
  if (name == "move") return move(call);
  if (name == "indices") return number(call);
  if (name == "hash") return hash(call);
  for (auto list : {arithmetic, functions, activations})
    if (runFrom(list(), name, call)) return;
  for (auto list : {reductions, scans, searches, products, factorisations, pools, samplers, norms, indexings, losses})
    if (runFrom(list(), name, call)) return;
  throw std::runtime_error("no kernel " + std::string(name));
}

}  // namespace
}  // namespace aten

// 0, or 1 and the reason in `said`.
extern "C" int amdahl_aten_call(const char* name, const aten::Tensor* tensors, int count, int outputs, int outer, const double* reals, char* said, int room) {
  try {
    aten::run(name, {tensors, count, outputs, outer, reals});
    return 0;
  } catch (const std::exception& error) {
    std::strncpy(said, error.what(), size_t(room) - 1);
    return 1;
  }
}

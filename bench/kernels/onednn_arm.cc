// amdahl-bench-onednn MODEL.onnx INPUT_DIR THREADS: products by oneDNN, a peer of bench/kernels/run.
//
// The constant operand is brought into the layout that the primitive asks for once, before the clock.

#include <dnnl.hpp>

#include "bench/kernels/peer_arm.h"
#include "bench/kernels/product.h"

using namespace amdahl;
using dnnl::memory;

namespace {

memory::desc plain(int64_t rows, int64_t columns) { return {{rows, columns}, memory::data_type::f32, memory::format_tag::ab}; }
memory::desc any(int64_t rows, int64_t columns) { return {{rows, columns}, memory::data_type::f32, memory::format_tag::any}; }

HugeArray reordered(const float* from, const memory::desc& layout, const memory::desc& wanted, const dnnl::engine& engine, dnnl::stream stream) {
  const HugeArray to = huge_array((wanted.get_size() + sizeof(float) - 1) / sizeof(float));
  memory source(layout, engine, const_cast<float*>(from)), target(wanted, engine, to.get());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
  return to;
}

std::vector<Run> onednn_product(const Operands& operands, int) {  // its threads are OpenMP's
  const Product p = product_of(operands);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::matmul::primitive_desc chosen({plain(p.m, p.depth), any(p.depth, p.n), plain(p.m, p.n)}, engine);
  const HugeArray weights = reordered(p.b, plain(p.depth, p.n), chosen.weights_desc(), engine, stream);
  const std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, memory(chosen.src_desc(), engine, const_cast<float*>(p.a))},
                                                     {DNNL_ARG_WEIGHTS, memory(chosen.weights_desc(), engine, weights.get())},
                                                     {DNNL_ARG_DST, memory(chosen.dst_desc(), engine, p.c)}};
  return {[product = dnnl::matmul(chosen), stream, arguments, weights]() mutable {
    product.execute(stream, arguments);
    stream.wait();
  }};
}

}  // namespace

int main(int argc, char** argv) { return peer_main(argc, argv, onednn_product); }

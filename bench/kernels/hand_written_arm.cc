// amdahl-bench-hand-written MODEL.onnx INPUT_DIR THREADS: kernels written by hand, a peer of bench/kernels/run.

#include <fmt/format.h>

#include "base/error.h"
#include "bench/kernels/hand_written/hand_written.h"

using namespace amdahl;

namespace {

struct Row {
  const char* prefix;
  std::vector<Run> (*prepare)(const Operands&, int threads);
};

constexpr Row kRows[] = {{"causal-attention-", hand_written::causal_attention},
                         {"tanh-gelu-", hand_written::tanh_gelu},
                         {"layernorm-", hand_written::layer_norm},
                         {"rmsnorm-", hand_written::rms_norm},
                         {"rope-", hand_written::rope},
                         {"softmax-", hand_written::softmax},
                         {"cross-entropy-", hand_written::cross_entropy},
                         {"lstm-", hand_written::lstm},
                         {"reduce-all-", hand_written::reduce_all}};

std::vector<Run> prepare(const Operands& operands, int threads) {
  for (const Row& row : kRows)
    if (operands.kernel.starts_with(row.prefix)) return row.prepare(operands, threads);
  throw Error(ExitCode::kUsage, fmt::format("no kernel for {} was written by hand", operands.kernel));
}

}  // namespace

int main(int argc, char** argv) { return peer_main(argc, argv, prepare); }

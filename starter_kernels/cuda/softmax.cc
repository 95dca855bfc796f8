// How an NVIDIA card computes the softmax kind (starter_kernels/kinds/softmax.cc).

#include "starter_kernels/kinds/softmax.h"

#include "base/device_info.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_rows.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/row_pieces.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/row_space.h"
#include "starter_kernels/text/row_spaces.h"

namespace amdahl {
namespace {

class SoftmaxOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kSoftmax; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    const RowSpace rows = softmax_rows(problem);
    SearchSpace space;
    space.knobs = reading_knobs(rows, RowPieces::widest(problem, rows), card.units, {1, 2, 3},
                                "how often a row is read; 1: kept in registers, 2: maximum and sum together");
    space.refuse = [rows, real = row_type(problem)](const Knobs& k) { return refused_reads(rows, k, real); };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const RowSpace rows = softmax_rows(problem);
    const RowPieces pieces{problem, rows, {}, prologue_inputs(problem)};
    return join_text({cuda_opening(problem), pieces.text(variant.knobs), cuda_sizes({{"LOG", SoftmaxParams::of(problem).log}}),
                      std::string(cuda_text("rows.h")), std::string(cuda_text("row_pieces.h")), std::string(cuda_text("softmax.cu"))});
  }
};

}  // namespace

const KernelImplementation* softmax_on_cuda() {
  static const SoftmaxOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

// Channel blocks ("nchw16c", or "nchw8c") carried through convolutions, poolings and pointwise steps (layout_region.h): a block's channels
// are the lanes of a vector whatever the width of a row, and a weight vector meets a broadcast of x. 3x3 convolutions become
// Winograd's where that takes away most products.

#include <algorithm>

#include "playbook/layout_region.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/conv_algorithms.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/formats.h"

namespace amdahl {
namespace {

class ChannelBlocks final : public CarriedLayout {
 public:
  explicit ChannelBlocks(const DeviceInfo& device) : device_(device) {}
  std::string format() const override { return blocked_format(device_); }
  int64_t block() const override { return channel_block(format()); }
  bool pads() const override { return true; }
  bool carries(DType dtype) const override { return dtype == DType::kF32; }
  bool computes(const Problem& conv) const override { return !conv_algorithms(conv, device_).empty(); }

  // What the search has declared already stays, where blocks allow it.
  void choose_algorithm(Problem& conv, bool winograd) const override {
    const std::vector<int64_t> algorithms = conv_algorithms(conv, device_);
    const bool possible = std::count(algorithms.begin(), algorithms.end(), kConvWinograd) > 0;
    if (!possible && declared_algorithm(conv).starts_with("winograd")) declare_algorithm(conv, "");
    if (winograd && declared_algorithm(conv).empty() && winograd_saves_a_third(conv, device_)) declare_algorithm(conv, "winograd_f23");
  }

 private:
  const DeviceInfo& device_;
};

class CarryBlockedLayout final : public Rewrite {
 public:
  int tier() const override { return 2; }
  std::string_view name() const override { return "carry_blocked_layout"; }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return "conv, with pool and pointwise around it"; }
  std::string_view precondition() const override {
    return "f32 convolutions with constant weights; starts at the first convolution of a stretch between joins";
  }
  bool structural() const override { return true; }
  bool brings_kernels() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    return carry_layout(context, anchor, ChannelBlocks(context.target.device), refusal);
  }
};

}  // namespace

const Rewrite* carry_blocked_layout() {
  static const CarryBlockedLayout rewrite;
  return &rewrite;
}

}  // namespace amdahl

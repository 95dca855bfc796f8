// Channels last ("nhwc") carried through convolutions of half floats, poolings and pointwise steps (layout_region.h): what a window sees with one tap is then
// as many adjacent numbers as there are channels, which the copy engine of a card brings to shared memory as tensor cores want them (conv_boxes.h).

#include <algorithm>

#include "playbook/layout_region.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {
namespace {

class ChannelsLast final : public CarriedLayout {
 public:
  explicit ChannelsLast(const Target& target) : target_(target) {}
  std::string format() const override { return std::string(kChannelsLast); }
  int64_t block() const override { return 8; }  // 16 bytes of half floats: what the copy engine's lines begin at multiples of
  bool pads() const override { return false; }
  bool carries(DType dtype) const override { return is_half(dtype); }
  bool computes(const Problem& conv) const override {
    if (format_of_input(conv, 0).empty() && conv.out[0].shape[1] < block()) return false;  // an image that stays one
    const SearchSpace space = target_.space(conv);
    return space.refuse(space.starters()).empty();
  }
  void choose_algorithm(Problem&, bool) const override {}  // tensor cores multiply faster than Winograd's transforms move

 private:
  const Target& target_;
};

class CarryChannelsLast final : public Rewrite {
 public:
  int tier() const override { return 2; }
  std::string_view name() const override { return "carry_channels_last"; }
  std::string_view backend() const override { return "cuda"; }
  std::string_view target() const override { return "conv, with pool and pointwise around it"; }
  std::string_view precondition() const override { return "convolutions of half floats with constant weights; starts at the first of a stretch between joins"; }
  bool structural() const override { return true; }
  bool brings_kernels() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    return carry_layout(context, anchor, ChannelsLast(context.target), refusal);
  }
};

}  // namespace

const Rewrite* carry_channels_last() {
  static const CarryChannelsLast rewrite;
  return &rewrite;
}

}  // namespace amdahl

// LayerNorm in primitive operators becomes one kernel that reads its input once.
#include "playbook/norm_pattern.h"
#include "playbook/playbook.h"

namespace amdahl {
namespace {

class FuseLayerNorm final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "fuse_layernorm"; }
  std::string_view target() const override { return "reduce and pointwise"; }
  std::string_view precondition() const override { return "(x - mean) / sqrt(variance + eps) in primitive operators"; }
  bool structural() const override { return true; }
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    return match_norm(context, anchor, true, refusal);
  }
};

}  // namespace

const Rewrite* fuse_layernorm() {
  static const FuseLayerNorm rewrite;
  return &rewrite;
}

}  // namespace amdahl

#pragma once
// A rewrite of one convolution: the algorithm it changes to, if any, and the knobs it opens, which differ by algorithm.

#include <map>
#include <string>
#include <vector>

#include "playbook/rewrite.h"
#include "starter_kernels/cpu/conv_algorithms.h"

namespace amdahl {

class ConvRewrite final : public Rewrite {
 public:
  struct Definition {
    int tier = 1;
    std::string_view name, precondition;
    Knobs set;                                              // refused where all of it is in place already
    std::map<int64_t, std::vector<std::string_view>> open;  // by the ALGORITHM after `set`; none: refused
    std::string declared;                                   // declared algorithm: an error constant of its own
    bool structural = false;
  };
  explicit ConvRewrite(Definition definition) : definition_(std::move(definition)) {}

  int tier() const override { return definition_.tier; }
  std::string_view name() const override { return definition_.name; }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return "conv"; }
  std::string_view precondition() const override { return definition_.precondition; }
  bool structural() const override { return definition_.structural; }
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override;

 private:
  Definition definition_;
};

}  // namespace amdahl

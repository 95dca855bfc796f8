#pragma once
// Wisdom in the loop: forms that earlier sessions proved for windows of this model (experiments/wisdom.h). One is tried before the playbook
// is searched there, and judged and proven as any other.

#include <optional>
#include <string>

#include "tuner/search/prospects.h"
#include "tuner/search/searcher.h"

namespace amdahl {

class KnownForms {
 public:
  explicit KnownForms(const TuneContext& context) : forms_(context.known), smallest_gain_(context.options.smallest_gain) {}

  bool empty() const { return forms_.empty(); }
  const WisdomForm& at(const std::string& signature) const { return forms_.at(signature); }
  // The number of the offer whose known form promises the model most; none when all of them were tried, promise nothing or round too much.
  std::optional<size_t> most_promising(Prospects& prospects, const SessionState& state, const AllowedRewrites& rewrites, double model_seconds) const;
  // Where a form, or a kernel's text in it, came from: "" of this session's own search.
  std::string origin_of(const SessionState& state, const std::string& signature, const Proposal& p) const;

 private:
  const std::map<std::string, WisdomForm>& forms_;  // by signature
  double smallest_gain_;
};

}  // namespace amdahl

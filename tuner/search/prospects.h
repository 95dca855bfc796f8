#pragma once
// What is left to try on the head plan: the playbook's offers by its profile, without those that are exhausted, and which of them comes next.
// A new profile voids all of it.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/search/allowed_rewrites.h"
#include "tuner/search/campaign.h"
#include "tuner/search/head_profile.h"
#include "tuner/search/scheduler.h"

namespace amdahl {

// An offer on a draft, and what it promises.
struct Inside {
  Opportunity opportunity;
  double rate = 0;  // log speedup of the model, a second
  std::string why = {};
};

class Prospects {
 public:
  Prospects(const TuneContext& context, const SessionState& state, const HeadProfile& profile, const AllowedRewrites& rewrites)
      : context_(context), state_(state), profile_(profile), rewrites_(rewrites) {}

  const std::vector<Opportunity>& offers();

  // One of offers(); nullopt when nothing is worth a try.
  std::optional<Choice> choose() { return choose_beside(nullptr); }
  // Likewise, as if `taken` were not offered.
  std::optional<Choice> choose_beside(const Opportunity* taken);
  // What to try next on top of a campaign's draft, by the same experience.
  std::optional<Inside> choose_inside(const Campaign& campaign) const;

  // All of its forms were tried, or its window cannot be judged.
  void exhaust(const Rewrite& rewrite, const std::string& signature);
  void exhaust(const Opportunity& o) { exhaust(*o.rewrite, o.signature); }
  bool is_exhausted(const Opportunity& o) const { return exhausted_.count({std::string(o.rewrite->name()), o.signature}) > 0; }
  // Whether what is left was not offered for what the profile says, and not because it was tried.
  bool are_ruled_out_by_profile();

 private:
  Scheduler scheduler() const;
  void forget_if_outdated();

  const TuneContext& context_;
  const SessionState& state_;
  const HeadProfile& profile_;
  const AllowedRewrites& rewrites_;
  int64_t revision_ = 0;  // of the profile that the rest is derived from
  std::vector<Opportunity> offers_;
  std::set<std::pair<std::string, std::string>> exhausted_;  // rewrite, signature
};

}  // namespace amdahl

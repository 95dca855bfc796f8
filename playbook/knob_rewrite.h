#pragma once
// A rewrite that keeps what a step computes and the kernel's kind: it sets knobs or flags, or opens knobs to the search. Most
// of tiers 1 to 3 are of this form: a definition is then all there is to write.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "playbook/rewrite.h"

namespace amdahl {

class KnobRewrite final : public Rewrite {
 public:
  struct Definition {
    int tier = 1;
    std::string_view name, target, precondition;
    std::string_view backend;                           // empty: every backend whose kernels have the knobs
    std::vector<std::string_view> kinds;                // empty: every kind that has the knobs
    std::map<std::string, std::vector<int64_t>> where;  // refused where one of these knobs has none of the values
    Knobs set;                                          // the change itself; refused where it is in place already
    std::vector<std::string_view> open;                 // knobs that the search varies; those a kind lacks are left out
    std::vector<std::string> flags;                     // compiler flags that are added
    bool structural = false;
    // A further precondition: "" or why not.
    std::function<std::string(const RewriteContext&, const Step&)> refuse;
  };
  explicit KnobRewrite(Definition definition) : definition_(std::move(definition)) {}

  int tier() const override { return definition_.tier; }
  std::string_view name() const override { return definition_.name; }
  std::string_view target() const override { return definition_.target; }
  std::string_view precondition() const override { return definition_.precondition; }
  // Flags are those of g++.
  std::string_view backend() const override { return definition_.flags.empty() ? definition_.backend : "cpu"; }
  bool structural() const override { return definition_.structural; }
  // Knobs that are set are one form, as its author meant it.
  Odds odds(std::string_view backend) const override { return odds_of(definition_.name, definition_.structural || !definition_.set.empty(), backend); }
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override;

 private:
  std::string apply(const SearchSpace& space, Variant& variant) const;  // "" or why not

  Definition definition_;
};

}  // namespace amdahl

#include "tuner/search/searcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace amdahl {
namespace {

std::string knob_name(const Match& match, const Match::OpenKnob& open) {
  return match.replacement.size() == 1 ? open.name : fmt::format("{}@{}", open.name, open.step);
}

class Search {
 public:
  Search(const Match& match, const FormOf& form_of, const Target& target, const std::set<std::string>& known, Random& random)
      : match_(match), form_of_(form_of), known_(known), random_(random) {
    for (const Step& step : match.replacement) spaces_.push_back(target.space(step.variant.problem));
    for (const Match::OpenKnob& open : match.search) {
      const Knobs& at = match.replacement[static_cast<size_t>(open.step)].variant.knobs;
      const auto it = at.find(open.name);
      if (!open.values.empty()) first_[knob_name(match, open)] = it == at.end() ? open.values[0] : it->second;
    }
  }

  const Knobs& first() const { return first_; }

  // What counting instructions says of these knobs, over all steps.
  double cycles(const Knobs& knobs) const {
    const std::vector<Step> steps = with(knobs);
    double sum = 0;
    for (size_t s = 0; s < steps.size(); ++s)
      if (spaces_[s].cycles && !steps[s].variant.knobs.empty()) sum += spaces_[s].cycles(steps[s].variant.knobs);
    return sum;
  }

  // Adds the form with these knobs unless it is known, refused by its kind, or proposed already.
  bool add(const Knobs& knobs) { return add(with(knobs), knobs); }
  bool add(const std::vector<Step>& steps, const Knobs& knobs) {
    for (size_t s = 0; s < steps.size(); ++s)
      if (spaces_[s].refuse && !steps[s].variant.knobs.empty() && !spaces_[s].refuse(steps[s].variant.knobs).empty()) return false;
    Proposal p;
    p.steps = form_of_(steps);
    p.knobs = knobs;
    p.id = candidate_id(p.steps);
    if (known_.count(p.id) || !mine_.insert(p.id).second) return false;
    proposals_.push_back(std::move(p));
    return true;
  }

  // The open knobs of `steps`.
  Knobs knobs_of(const std::vector<Step>& steps) const {
    Knobs knobs;
    for (const Match::OpenKnob& open : match_.search) {
      const Knobs& at = steps[static_cast<size_t>(open.step)].variant.knobs;
      if (const auto it = at.find(open.name); it != at.end()) knobs[knob_name(match_, open)] = it->second;
    }
    return knobs;
  }

  // The first form with one of its switches the other way: which part of C threads share, whether weights are fetched ahead.
  std::vector<Knobs> switched() const {
    std::vector<Knobs> forms;
    for (const Match::OpenKnob& open : match_.search) {
      if (open.values.size() != 2) continue;
      Knobs k = first_;
      int64_t& value = k[knob_name(match_, open)];
      value = open.values[value == open.values[0] ? 1 : 0];
      forms.push_back(std::move(k));
    }
    return forms;
  }

  // One knob one or two places up or down.
  Knobs neighbour(const Knobs& from) {
    Knobs k = from;
    const Match::OpenKnob& open = pick();
    int64_t& value = k[knob_name(match_, open)];
    const auto at = std::lower_bound(open.values.begin(), open.values.end(), value) - open.values.begin();
    const int64_t reach = 1 + static_cast<int64_t>(random_.below(4) == 0);
    const int64_t to = at + (random_.below(2) ? reach : -reach);
    value = open.values[static_cast<size_t>(std::clamp<int64_t>(to, 0, static_cast<int64_t>(open.values.size()) - 1))];
    return k;
  }

  // Several knobs anywhere.
  Knobs jump(const Knobs& from) {
    Knobs k = from;
    const uint64_t changes = 2 + random_.below(std::max<uint64_t>(1, match_.search.size() / 2));
    for (uint64_t c = 0; c < changes; ++c) {
      const Match::OpenKnob& open = pick();
      k[knob_name(match_, open)] = open.values[random_.below(open.values.size())];
    }
    return k;
  }

  size_t size() const { return proposals_.size(); }
  bool has_space() const { return !first_.empty(); }
  std::vector<Proposal> take() { return std::move(proposals_); }

 private:
  std::vector<Step> with(const Knobs& knobs) const {
    std::vector<Step> steps = match_.replacement;
    for (const Match::OpenKnob& open : match_.search) {
      const auto it = knobs.find(knob_name(match_, open));
      if (it != knobs.end()) steps[static_cast<size_t>(open.step)].variant.knobs[open.name] = it->second;
    }
    return steps;
  }

  const Match::OpenKnob& pick() {
    for (;;) {
      const Match::OpenKnob& open = match_.search[random_.below(match_.search.size())];
      if (!open.values.empty()) return open;
    }
  }

  const Match& match_;
  const FormOf& form_of_;
  const std::set<std::string>& known_;
  Random& random_;
  std::vector<SearchSpace> spaces_;
  Knobs first_;
  std::set<std::string> mine_;
  std::vector<Proposal> proposals_;
};

}  // namespace

std::string candidate_id(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += step.variant.id() + ";";
  return hash_hex(text);
}

std::vector<Proposal> propose(const Match& match, const FormOf& form_of, const Target& target, const std::set<std::string>& known, int count, Random& random) {
  Search search(match, form_of, target, known, random);
  search.add(search.first());
  for (const std::vector<Step>& other : match.others)
    if (search.size() < static_cast<size_t>(count)) search.add(other, search.knobs_of(other));
  if (!search.has_space()) return search.take();
  // Draws among eight knobs meet a switch late: a session's products of quarters shared rows, +24% over plain ones, until the sixteenth form shared
  // columns, +30%.
  for (const Knobs& knobs : search.switched())
    if (search.size() < static_cast<size_t>(count)) search.add(knobs);
  const auto draw = [&] { return random.below(3) < 2 ? search.neighbour(search.first()) : search.jump(search.first()); };
  // Of a few draws the one with the fewest instructions comes first; once those are known, any.
  constexpr int kDraws = 6;
  for (int attempt = 0; attempt < 60 * count && search.size() < static_cast<size_t>(count); ++attempt) {
    Knobs knobs = draw();
    for (int d = 1; d < kDraws && attempt < 20 * count; ++d)
      if (Knobs other = draw(); search.cycles(other) < search.cycles(knobs)) knobs = std::move(other);
    search.add(knobs);
  }
  return search.take();
}

}  // namespace amdahl

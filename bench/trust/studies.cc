#include "bench/trust/studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "base/counted.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "bench/trust/drawn_again.h"
#include "bench/trust/planted_time.h"
#include "bench/trust/source_edits.h"
#include "bench/trust/trial_log.h"

namespace amdahl::trust {
namespace {

using Clock = std::chrono::steady_clock;

// Both arms of a trial.
struct Arms {
  std::vector<Step> incumbent, challenger;
};

class Study {
 public:
  Study(const std::string& name, const StudyOptions& options) : name_(name), options_(options), log_(options.folder + "/" + name + ".jsonl") {}

  void run() {
    for (const Trial& t : log_.trials()) done_[t.effect] += !t.twin;
    for (const Trial& t : log_.trials()) ++numbers_[t.effect];
    say_estimate();
    const std::vector<double> effects = name_ == "planted" ? options_.effects : std::vector<double>{0};
    // Effects in turn, so that what was run before an interruption covers all of them.
    for (;;) {
      bool any = false;
      for (double effect : effects) {
        if (done_[effect] >= options_.count) continue;
        if (interrupted()) throw Stopped{};
        if (options_.minutes > 0 && std::chrono::duration<double>(Clock::now() - begun_).count() > 60 * options_.minutes) return say_left();
        run_trial(effect);
        any = true;
      }
      if (!any) break;
    }
    say_refused();
  }

 private:
  int left() const {
    int n = 0;
    for (double effect : name_ == "planted" ? options_.effects : std::vector<double>{0}) {
      const auto done = done_.find(effect);
      n += std::max(0, options_.count - (done == done_.end() ? 0 : done->second));
    }
    return n;
  }

  // What a trial costs, from those that were run; at first a guess.
  double trial_seconds() const {
    if (run_ >= 3) return seconds_ / run_;
    double sum = 0;
    for (const Trial& t : log_.trials()) sum += t.seconds;
    return log_.trials().size() < 3 ? 5 : sum / static_cast<double>(log_.trials().size());
  }

  void say_estimate() const {
    fmt::print(stderr, "{}: {} trials to run, about {:.0f} min; {} are in {}\n", name_, left(), left() * trial_seconds() / 60, log_.trials().size(),
               log_.path());
  }

  void say_left() const { fmt::print(stderr, "{}: {} trials are left: the same command goes on with them\n", name_, left()); }

  // Whatever was drawn in their place.
  void say_refused() const {
    int refused = 0;
    for (const Trial& t : log_.trials()) refused += t.refused;
    fmt::print(stderr, "{}: refused by the scan: {}\n", name_, counted(refused, "text"));
  }

  WindowUnderTest& window_of(int number) {
    const std::string& name = options_.windows[static_cast<size_t>(number) % options_.windows.size()];
    auto& window = windows_[name];
    if (!window) window = std::make_unique<WindowUnderTest>(name, options_.trial);
    return *window;
  }

  Arms arms_of(Trial& trial, WindowUnderTest& window, Random& random) {
    const std::string& source = window.source();
    if (trial.study == "placebo-builds") {
      const std::string a = padded(source, random), b = padded(source, random);
      return {window.with_source(a), window.with_source(b)};
    }
    if (trial.study == "placebo-edits") {
      const EditedSource edited = no_op_edits(source, random);
      trial.edits = edited.edits;
      return {window.with_source(source), window.with_source(edited.text)};
    }
    if (trial.study == "planted") {
      std::vector<double> percents;
      for (double e : options_.effects)
        if (std::find(percents.begin(), percents.end(), std::abs(e)) == percents.end()) percents.push_back(std::abs(e));
      const PlantedEffect planted =
          planted_effects(window, percents, options_.verify_pairs, options_.folder + "/planted-effects.json").at(std::abs(trial.effect));
      trial.true_log = trial.effect > 0 ? planted.truth.log : -planted.truth.log;
      const auto clean = with_planted(window, 0), slow = with_planted(window, planted.iterations);
      return trial.effect > 0 ? Arms{slow, clean} : Arms{clean, slow};
    }
    return {window.with_source(source), window.with_source(source)};
  }

  void run_trial(double effect) {
    Trial trial;
    trial.study = name_;
    trial.number = numbers_[effect]++;
    trial.effect = effect;
    WindowUnderTest& window = window_of(trial.number);
    trial.window = window.name();
    trial.seed = hash64(fmt::format("{} {} {} {}", options_.trial.seed, name_, effect, trial.number));
    Random random(trial.seed);
    auto start = Clock::now();
    trial.refused = drawn_again([&] {
      const Arms arms = arms_of(trial, window, random);
      start = Clock::now();
      window.enter(arms.incumbent);
      // Without force most trials would end with their race and bring no pairs.
      window.run(trial, arms.challenger, /*forced=*/name_ != "planted");
    });
    done_[effect] += !trial.twin;
    seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
    run_ += !trial.twin;
    log_.append(trial);
    say(trial);
  }

  void say(const Trial& t) const {
    const std::string end =
        t.twin               ? "the incumbent's object code"
        : !t.failure.empty() ? t.failure
        : t.stages.empty()   ? fmt::format("{:+.1f}% in the race", 100 * std::expm1(t.race_log_ratio))
        : t.proven           ? fmt::format("{} by {:+.1f}%", t.kept() ? "kept" : "would be kept, had it won its race", 100 * std::expm1(t.gain.log))
                   : fmt::format("not proven: {} after {} pairs, wealth {:.2f}", t.stages.back().name, t.stages.back().pairs.size(), t.stages.back().wealth);
    const std::string refused = t.refused == 0 ? "" : fmt::format("; {} refused by the scan before it", counted(t.refused, "text"));
    const std::string effect = t.effect == 0 ? "" : fmt::format(" {:+g}%", t.effect);
    fmt::print(stderr, "{} {}{} {}: {}{}, {:.1f} s; {} left, {:.0f} min\n", t.study, t.number + 1, effect, t.window, end.substr(0, 160), refused, t.seconds,
               left(), left() * trial_seconds() / 60);
  }

  std::string name_;
  StudyOptions options_;
  TrialLog log_;
  std::map<std::string, std::unique_ptr<WindowUnderTest>> windows_;
  std::map<double, int> done_, numbers_;  // by effect
  double seconds_ = 0;
  int run_ = 0;
  Clock::time_point begun_ = Clock::now();
};

}  // namespace

bool is_of_processors(const std::string& name) { return name.starts_with("placebo-"); }

std::vector<std::string> study_names() { return {"aa", "placebo-builds", "placebo-edits", "planted"}; }

void run_study(const std::string& name, const StudyOptions& options) { Study(name, options).run(); }

}  // namespace amdahl::trust

#pragma once
// Another trial runner, with a note of where its time goes.

#include <map>
#include <string>
#include <type_traits>

#include "tuner/trials/trial_runner.h"

namespace amdahl::ablation {

class TimedTrials : public TrialRunner {
 public:
  explicit TimedTrials(TrialRunner& inner) : inner_(inner) {}

  const Target& target() const override { return inner_.target(); }
  double now() const override { return inner_.now(); }
  std::vector<BuildResult> build(const std::vector<std::vector<Step>>& candidates) override {
    return timed("build", [&] { return inner_.build(candidates); });
  }
  std::string enter(const WindowTask& task) override {
    return timed("validate", [&] { return inner_.enter(task); });
  }
  // Stages and race in one call, which says how long each took.
  ScreenResult screen(const std::vector<Step>& challenger, const BuildResult& built, double bar) override {
    const ScreenResult s = timed("validate", [&] { return inner_.screen(challenger, built, bar); });
    seconds_["validate"] -= s.race_seconds;
    seconds_["race"] += s.race_seconds;
    return s;
  }
  bool pace(const std::vector<Step>& form, const BuildResult& built) override {
    return timed("race", [&] { return inner_.pace(form, built); });
  }
  Placebos placebos(const std::vector<Step>& challenger, int first, int count) override {
    return timed("prove", [&] { return inner_.placebos(challenger, first, count); });
  }
  PairTrial pair(const std::vector<Step>& challenger, const BuildResult& built, const Placebos& placebos, Random& random) override {
    return timed("prove", [&] { return inner_.pair(challenger, built, placebos, random); });
  }
  Profile profile(const Plan& plan) override {
    return timed("profile", [&] { return inner_.profile(plan); });
  }
  PairTrial model_pair(const Plan& before, const Plan& after, Distribution inputs, Random& random) override {
    return timed("gate", [&] { return inner_.model_pair(before, after, inputs, random); });
  }
  ModelCheck check_model(const Plan& plan, const Draw& inputs) override {
    return timed("gate", [&] { return inner_.check_model(plan, inputs); });
  }

  // build, validate, race, prove (confirmations too), profile, gate.
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  template <typename Call>
  std::invoke_result_t<Call> timed(const char* phase, const Call& call) {
    struct Meter {  // counts what throws as well
      const TrialRunner& clock;
      double& sum;
      double start = clock.now();
      ~Meter() { sum += clock.now() - start; }
    } meter{inner_, seconds_[phase]};
    return call();
  }

  TrialRunner& inner_;
  std::map<std::string, double> seconds_;
};

}  // namespace amdahl::ablation

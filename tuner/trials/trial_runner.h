#pragma once
// Everything of the loop that takes time or runs foreign code, as one interface: the loop (tuner.h) decides, a trial runner
// measures. Abstract so that the loop can be tested on a simulated machine.

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "profiler/profile.h"
#include "tuner/measurement/measure.h"
#include "tuner/trials/builder.h"
#include "tuner/validation/validate.h"

namespace amdahl {

// The window whose challengers are tried next.
struct WindowTask {
  std::string signature;
  WindowIo io;
  std::vector<Step> incumbent;
  int threads = 1;
};

struct ScreenResult {
  std::optional<Failure> failure;
  Timing race;             // when it did not fail: a quick race in one pair of living processes
  bool pace_lost = false;  // pace()'s form went wrong meanwhile: the race, if there was one, was against the incumbent, as are those to come
  double validate_seconds = 0, race_seconds = 0;
};

// Builds that the arms of a pair draw from, of the same code at other addresses; none: the arms run as written.
struct Placebos {
  std::vector<BuildResult> incumbent, challenger;
  std::string message;  // not empty: why there are none
};

struct PairTrial {
  std::optional<Failure> failure;  // of the challenger, or of the fresh process's outputs
  PairResult pair;
  int instances = 1;        // copies of the weights that took turns
  std::string below_floor;  // not empty: why one of the times cannot be true
};

struct ModelCheck {
  std::optional<Failure> failure;
  double error = 0;   // largest relative norm of an output's error against float64
  double judged = 1;  // share of the outputs' elements that are numbers in float64: what is NaN agrees with every NaN
};

class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  // What its kernels are made for.
  virtual const Target& target() const = 0;
  // Seconds of a clock that never goes back.
  virtual double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
  // Lets seconds pass, so that others may finish what they do.
  virtual void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
  virtual std::vector<BuildResult> build(const std::vector<std::vector<Step>>& candidates) = 0;

  // Makes ready for challengers of this window. Returns "" or why none could be judged.
  virtual std::string enter(const WindowTask& task) = 0;
  // The five stages and the race, against the incumbent or what pace() named. `bar`: the log ratio to beat; candidates that are
  // clearly below it after a first heat, or below it after a whole race, pass the smoke stage only: they are dropped anyway. Those above it race once more, and that
  // race counts: the best of many is the luckiest, too.
  virtual ScreenResult screen(const std::vector<Step>& challenger, const BuildResult& built, double bar) = 0;
  // From now on challengers race this form, which passed screen(), instead of the window's incumbent: two good forms differ by less than
  // the noise of two races against a third. False: it cannot, nothing changes.
  virtual bool pace(const std::vector<Step>& form, const BuildResult& built) = 0;
  // `count` placebo builds of the window's incumbent and of the challenger, from number `first` on.
  virtual Placebos placebos(const std::vector<Step>& challenger, int first, int count) = 0;
  // One pair of fresh processes.
  virtual PairTrial pair(const std::vector<Step>& challenger, const BuildResult& built, const Placebos& placebos, Random& random) = 0;

  // Whole plans. `profile` throws Error when even this cannot be run.
  virtual Profile profile(const Plan& plan) = 0;
  // Both plans get the same inputs: floats of this distribution, integers that their tables have.
  virtual PairTrial model_pair(const Plan& before, const Plan& after, Distribution inputs, Random& random) = 0;
  virtual ModelCheck check_model(const Plan& plan, const Draw& inputs) = 0;
};

}  // namespace amdahl

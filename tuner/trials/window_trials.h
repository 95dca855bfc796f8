#pragma once
// Judges and times challengers of one window at a time, in worker processes. Keeps what challengers of the same window
// share: the judge, expected outputs, and a living worker to race against.

#include <map>
#include <memory>
#include <optional>

#include "tuner/measurement/decision.h"
#include "tuner/measurement/fresh_pairs.h"
#include "tuner/trials/trial_runner.h"
#include "tuner/validation/declared.h"
#include "tuner/validation/reference_cache.h"

namespace amdahl {

struct TrialOptions {
  WorkerOptions worker;
  uint64_t seed = 1;                                // of the session: what whole models read
  std::optional<uint64_t> draws_seed;               // of all that candidates of windows are asked; none: from the operating system
  size_t reference_bytes = size_t{512} << 20;       // of float64 references that are kept
  size_t window_reference_bytes = size_t{2} << 30;  // and of one window's, where that is more: 7 draws of 32 million elements
  double race_seconds = 0.12;                       // a race; clear losers run a quarter of it
  double loser_margin = 0.05;                       // log ratio by which a first heat drops a candidate
  double tie_margin = 0.002;                        // and a whole race, before the dear stages of its validation
  double pair_seconds = 0.25;                       // timed part of a pair of processes
  double model_tolerance = 1e-3;                    // between outputs of two plans of a model, of their root mean square
};

class WindowTrials {
 public:
  WindowTrials(const Graph& graph, Builder& builder, const TrialOptions& options);
  std::string enter(const WindowTask& task);
  ScreenResult screen(const std::vector<Step>& challenger, const BuildResult& built, double bar);
  bool pace(const std::vector<Step>& form, const BuildResult& built);
  Placebos placebos(const std::vector<Step>& challenger, int first, int count);
  PairTrial pair(const std::vector<Step>& challenger, const BuildResult& built, const Placebos& placebos, Random& random);

 private:
  // Who challengers race instead of the incumbent: the best form so far.
  struct Pacer {
    Program program;
    std::vector<std::string> hashes;
    double tolerance = 0;
    ErrorConstant declared = {};
  };
  // What candidates of the entered window share.
  struct EnteredWindow {
    WindowTask task;
    const ValidationSpec* spec = nullptr;
    std::unique_ptr<InputSource> input_source;
    Program incumbent;
    double incumbent_seconds = 0;
    double own_tolerance = 0;                                  // between two programs as precise as the incumbent
    double tolerance = 0;                                      // between the arms that race now, on numbers drawn as in the first check
    size_t pairs = 0;                                          // measured so far: whose turn it is of ValidationSpec::timed
    std::vector<std::pair<ErrorConstant, double>> tolerances;  // by what a form declares: the bounds of millions of outputs are looked through
    TimedBinding timed;
    std::vector<std::string> incumbent_hashes;
    std::optional<Pacer> pacer;
    std::unique_ptr<RemoteProgram> racer;  // living: the pacer, or the incumbent
    FreshPairs pairs_of_proof;
    // Hashes of the outputs of ValidationSpec::canaries, judged once, by BuildResult::code: what fresh processes must give too.
    std::map<std::string, std::vector<std::string>> canary_hashes;
    // Whether what is saved by calls in a row is missing when they come one at a time; by BuildResult::code.
    std::map<std::string, SignTest> missing_alone;
  };

  Program program_of(const WindowIo& io, const std::vector<Step>& steps, const std::vector<std::string>& libraries, int threads);
  const ValidationSpec& spec_for(const WindowTask& task, const Program& incumbent);
  ExpectedOf expected_of(const WindowIo& io, const Program& program, const std::string& signature, const ErrorConstant& constant = {});
  double tolerance_of(const Program& program, const std::vector<Step>& steps);
  // For a race of the pacer or the incumbent against a challenger.
  Referee referee(const ErrorConstant& incumbent, const ErrorConstant& challenger);
  bool is_within(RemoteProgram& arm, size_t slot, const std::vector<Tensor>& inputs, const ErrorConstant& declared);
  Contents contents(size_t turn = 0) const;
  Segments segments(double budget_seconds, int fewest_blocks) const;
  PairSettings settings(size_t turn = 0) const;
  void restart_racer();
  ScreenResult screen_beside_incumbent(const std::vector<Step>& challenger, const BuildResult& built, double bar, const ScreenResult& beside_pacer);
  ScreenResult screen_once(const std::vector<Step>& challenger, const BuildResult& built, double bar);
  std::vector<std::string> judged_hashes(RemoteProgram& remote, const Program& program, const std::vector<Step>& steps);
  Timing race(RemoteProgram& challenger, const ErrorConstant& declared, std::vector<std::string> hashes, double budget_seconds,
              std::optional<Failure>* failure);
  std::optional<Failure> batched_only(const std::string& code, const Timing& t);

  const Graph& graph_;
  Builder& builder_;
  TrialOptions options_;
  Plan starter_;
  Random secrets_;         // what candidates are asked
  Random timing_secrets_;  // of races; apart, since how many there are is for the clock to say, and what is asked must not be
  size_t run_bytes_;       // bytes_of_run() of the starter
  ConstantsFile constants_;
  ReferenceCache cache_;
  GivenValues given_;
  std::map<std::string, ValidationSpec> specs_;  // by signature and weights
  EnteredWindow at_;
};

}  // namespace amdahl

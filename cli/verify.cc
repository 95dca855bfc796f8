// amdahl verify FILE: proves the headline of a session again, here and now.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/counted.h"
#include "base/entropy.h"
#include "base/error.h"
#include "base/time_text.h"
#include "cli/model_options.h"
#include "cli/number_option.h"
#include "cli/open_session.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/session_model.h"
#include "experiments/standing.h"
#include "tuner/search/gate.h"
#include "tuner/search/headline.h"
#include "tuner/trials/local_trials.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  options.word("session");
  declare_model_file(options);
  options.named.add_options()("pairs", whole_number(kFewestHeadlinePairs, 10'000)->default_value(9)->value_name("N"),
                              "pairs of fresh processes: fewer than 7 prove nothing");
}

struct Arguments {
  std::string session, model_file;
  int pairs = 0;
};

Arguments read(const po::variables_map& values) {
  return {read_word(values, "session", "FILE, a session"), read_model_file(values), values["pairs"].as<int>()};
}

struct Outputs {
  bool right = true;
  double error = 0, starter_error = 0;  // of the inputs with the worst of them
  double judged = 0;                    // as ModelCheck::judged, of the inputs with most
};

// On inputs of each distribution, which neither plan has seen.
Outputs check_outputs(const OpenSession& open, LocalTrials& trials, const Plan& plain, const Plan& kept, uint64_t seed, Progress& progress) {
  Outputs result;
  Random random(seed ^ 0x0c4ec4);
  for (Distribution distribution : headline_inputs(open.graph)) {
    progress.update(0, 0, fmt::format("outputs against float64 on {} inputs", name_of(distribution)));
    Draw inputs;
    inputs.distribution = distribution;
    inputs.seed = random.next() >> 1;
    const ModelCheck before = trials.check_model(plain, inputs), after = trials.check_model(kept, inputs);
    if (before.failure) throw Error(exit_code(*before.failure, ExitCode::kNotVerified), "the plan of a kernel a node fails: " + before.failure->reason);
    if (after.failure) throw Error(exit_code(*after.failure, ExitCode::kNotVerified), "the kept plan fails: " + after.failure->reason);
    result.judged = std::max(result.judged, after.judged);
    result.right = result.right && after.error <= open.options.gate().limit(before.error);
    if (after.error < result.error) continue;
    result.error = after.error;
    result.starter_error = before.error;
  }
  if (result.judged < kFewestJudged) throw Error(ExitCode::kNotVerified, nothing_to_judge(result.judged));
  return result;
}

std::string with_standing(const Gain& g) { return interval_text(g, 3) + (standing_of(g) == Standing::kLevel ? " (level)" : ""); }

std::string verdict_text(bool right, bool claimed, Standing now, const std::string& against) {
  if (!right) return "the headline does NOT hold here: outputs are wrong";
  if (!claimed) return "the session claims no gain yet; its outputs hold";
  if (!against.empty()) return "the headline does NOT hold here: " + against;
  return now == Standing::kLevel ? "the headline holds: level" : "the headline holds";
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  const OpenSession open = open_session(arguments.session, Session::Access::kRead, global, arguments.model_file);
  const Plan kept = gated_plan(*open.session), starter = plan_at_start(*open.session);
  const Plan plain = starter_plan(open.graph, open.options.threads, open.backend->target());
  const std::optional<Headline> claim = open.session->headline();

  const uint64_t seed = entropy();
  LocalTrials trials(open.graph, *open.backend, trial_options(open.options, seed), global.cache_dir);
  Progress progress("verifying", global.progress());
  const Outputs outputs = check_outputs(open, trials, plain, kept, seed, progress);
  progress.update(0, 0, fmt::format("{} pairs of fresh processes", arguments.pairs));
  HeadlineOptions options;
  options.plan = claim ? claim->plan : 0;
  options.pairs = arguments.pairs;
  options.seed = seed;
  options.inputs = headline_inputs(open.graph);
  const Headline now = measure_headline(trials, starter, kept, options);

  const bool claimed = claim && claim->gain.pairs > 0;
  const std::string against = claimed ? contradiction(claim->gain, now.gain) : "";
  const bool holds = outputs.right && against.empty();
  if (global.json) {
    Json j = {{"seed", seed},
              {"measured", now},
              {"error", outputs.error},
              {"starter_error", outputs.starter_error},
              {"standing", name_of(standing_of(now.gain))},
              {"outputs_right", outputs.right},
              {"holds", holds},
              {"reason", against}};
    if (claimed) j["claimed"] = *claim;
    print_json(j);
  } else {
    fmt::print("outputs   {:.2g} from float64 (relative norm), starter {:.2g}: {}\n", outputs.error, outputs.starter_error, outputs.right ? "right" : "WRONG");
    if (claimed) fmt::print("claimed   {}\n", with_standing(claim->gain));
    fmt::print("measured  {}: {} -> {}, {} on {} inputs, seed {}\n", with_standing(now.gain), time_text(now.starter_seconds), time_text(now.kept_seconds),
               counted(now.gain.pairs, "pair"), fmt::join(now.inputs, ", "), seed);
    fmt::print("{}\n", verdict_text(outputs.right, claimed, standing_of(now.gain), against));
  }
  return static_cast<int>(holds ? ExitCode::kOk : ExitCode::kNotVerified);
}

}  // namespace

const Command kVerifyCommand{"verify",
                             "FILE [options]",
                             "proves the headline of a session again, here",
                             "Inputs and orders are new ones, on other distributions than the search had. Exit status 12 when the outputs are not\n"
                             "right, when the two intervals do not meet, or when a gain was claimed and none is shown.",
                             declare,
                             [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

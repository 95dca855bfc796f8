// amdahl verify FILE: proves the headline of a session again, here and now.

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "cli/open_session.h"
#include "cli/model_options.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/session_model.h"
#include "tuner/gate.h"
#include "tuner/headline.h"
#include "tuner/workbench.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  options.word("session");
  declare_model_file(options);
  options.named.add_options()("pairs", po::value<int>()->default_value(9)->value_name("N"), "pairs of fresh processes (at least 7)");
}

int run(const po::variables_map& values, const GlobalOptions& global) {
  const std::string path = required_word(values, "session", "FILE, a session");
  const int pairs = values["pairs"].as<int>();
  if (pairs < kFewestHeadlinePairs) throw Error(ExitCode::kUsage, fmt::format("--pairs: give a number from {} on, fewer prove nothing", kFewestHeadlinePairs));
  const OpenSession open = open_session(path, Session::Access::kRead, global, model_file(values));
  const Plan kept = gated_plan(*open.session), starter = starter_plan(open.graph, open.options.threads);
  const std::optional<Headline> claim = open.session->headline();

  // Other inputs and other orders than the session's: the claim is about the plans, not about one draw.
  const uint64_t seed = std::random_device{}();
  Workbench bench(open.graph, bench_options(open.options, seed), global.cache_dir);
  Progress progress("verifying", global.progress());
  progress.update(0, 0, "outputs against float64");
  const ModelCheck before = bench.check_model(starter), after = bench.check_model(kept);
  if (before.failure) throw Error(ExitCode::kNotVerified, "the starter plan fails: " + before.failure->reason);
  if (after.failure) throw Error(ExitCode::kNotVerified, "the kept plan fails: " + after.failure->reason);
  progress.update(0, 0, fmt::format("{} pairs of fresh processes", pairs));
  Random random(seed);
  const Headline now = measure_headline(bench, starter, kept, claim ? claim->plan : 0, pairs, random);

  const bool right = after.error <= open.options.gate().limit(before.error);
  // What was claimed must not be contradicted: the intervals meet, or today's is better.
  const bool faster = !claim || now.gain.hi >= claim->gain.lo;
  const bool nothing_claimed = !claim;
  if (global.json) {
    Json j = {{"seed", seed},           {"measured", now},       {"error", after.error}, {"starter_error", before.error},
              {"outputs_right", right}, {"holds", right && faster}};
    if (claim) j["claimed"] = *claim;
    print_json(j);
  } else {
    fmt::print("outputs   {:.2g} from float64 (relative norm), starter {:.2g}: {}\n", after.error, before.error, right ? "right" : "WRONG");
    if (claim)
      fmt::print("claimed   {:.3f}x [{:.3f}, {:.3f}]\n", std::exp(claim->gain.log), std::exp(claim->gain.lo), std::exp(claim->gain.hi));
    fmt::print("measured  {:.3f}x [{:.3f}, {:.3f}]: {:.2f} ms -> {:.2f} ms, {} pairs, seed {}\n", std::exp(now.gain.log),
               std::exp(now.gain.lo), std::exp(now.gain.hi), 1e3 * now.starter_seconds, 1e3 * now.kept_seconds, now.gain.pairs, seed);
    fmt::print("{}\n", !right || !faster     ? "the headline does NOT hold here"
                       : nothing_claimed ? "the session claims no gain yet; its outputs hold"
                                         : "the headline holds");
  }
  return static_cast<int>(right && faster ? ExitCode::kOk : ExitCode::kNotVerified);
}

}  // namespace

const Command kVerifyCommand{"verify", "FILE [options]", "proves the headline of a session again, here",
                             "Exit status 12 when the outputs are not right or the claimed speed-up is contradicted.", declare, run};

}  // namespace amdahl

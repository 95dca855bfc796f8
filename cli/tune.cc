// amdahl tune MODEL and amdahl resume FILE: the loop.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/counted.h"
#include "base/entropy.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/shell_word.h"
#include "cli/event_lines.h"
#include "cli/find_noise.h"
#include "cli/live_page.h"
#include "cli/live_view.h"
#include "cli/open_session.h"
#include "cli/print_json.h"
#include "cli/say.h"
#include "cli/tune_arguments.h"
#include "cli/tune_end.h"
#include "experiments/report.h"
#include "plan/require_memory.h"
#include "playbook/first_plan.h"
#include "playbook/playbook.h"
#include "profiler/processor_load.h"
#include "tuner/search/finish.h"
#include "tuner/search/tuner.h"
#include "tuner/trials/local_trials.h"

namespace amdahl {
namespace {

// When the command was given, and what others had of the processors from then on. All of its time is the session's.
struct Beginning {
  using Clock = std::chrono::steady_clock;
  Clock::time_point at = Clock::now();
  OthersLoad others;
  double seconds_since() const { return std::chrono::duration<double>(Clock::now() - at).count(); }
};

void set_limits(const SearchArguments& arguments, TuneOptions& options) {
  options.seconds = arguments.seconds;
  options.experiments = arguments.experiments;
}

void set_precision(const TuneArguments& arguments, const Target& target, TuneOptions& options) {
  options.allow_bf16 = arguments.allow_bf16;
  options.max_error = arguments.max_error.value_or(options.max_error);
  if (arguments.max_error && !arguments.allow_bf16)
    throw Error(ExitCode::kUsage, "--max-error limits what --allow bf16 may cost: give --allow bf16 with it, or leave it out");
  if (!options.allow_bf16) return;
  if (const std::string why = refused_in_bf16(target); !why.empty()) say("amdahl: --allow bf16 changes nothing here: {}\n", why);
}

// The rule is set once, by this machine's noise, and stays with the session. A short budget is not spent on that: then the
// careful defaults hold.
void set_rule(const GlobalOptions& global, TuneOptions& options) {
  const bool short_budget = (options.seconds > 0 && options.seconds < 300) || (options.experiments > 0 && options.experiments < 100);
  const auto noise = find_machine_noise(global, short_budget ? NoiseForm::kCached : NoiseForm::kCachedOrShort);
  if (noise) set_rules_for(*noise, options.rules);
}

// A team whose threads wait for a processor is slower than a smaller one, and what is tuned for it is tuned for that.
void warn_of_others(TuneView& view, double others, int threads) {
  const int cores = this_machine().units;
  const int free = std::clamp(static_cast<int>(std::lround(cores * (1 - others))), 1, cores);
  if (others < kBusyShare || threads <= free) return;
  view.on_note(fmt::format("other programs have {:.1f} of {}: stop them, or tune for what is free with --threads {}", others * cores,
                           counted(cores, "processor"), free));
}

// The loop and the session's end.
TuneSummary run_loop(const TuneContext& context, const Beginning& beginning) {
  TuneSummary summary = Tuner(context).run(beginning.seconds_since());
  if (summary.end == TuneEnd::kStopped) return summary;
  try {
    finish_session(context, summary);
  } catch (const Stopped&) {
    summary.end = TuneEnd::kStopped;
  }
  return summary;
}

std::unique_ptr<TuneView> make_view(const OpenSession& open, const SearchArguments& arguments, const GlobalOptions& global,
                                    std::function<void()> after_change) {
  const std::string model = short_name(open.session->identity().model);
  if (arguments.events) return std::make_unique<EventLines>(model, std::move(after_change));
  return std::make_unique<LiveView>(model, global.progress(), std::move(after_change));
}

int tune(OpenSession& open, const std::string& path, const SearchArguments& arguments, const GlobalOptions& global, const Beginning& beginning) {
  if (arguments.events) end_with_parent();
  set_limits(arguments, open.options);
  std::optional<LivePage> page;
  if (arguments.html) page.emplace(*open.session, *arguments.html);
  SessionWisdom wisdom(arguments.wisdom, open.with_backend(global), open.options);
  LocalTrials trials(open.graph, *open.backend, trial_options(open.options, open.options.judged_seed()), global.cache_dir);
  TuneSummary summary;
  {
    const std::unique_ptr<TuneView> view = make_view(open, arguments, global, [&] {
      if (page) page->refresh();
    });
    view->phase("measuring what this machine can do");  // before a profile is: that one says how long a gate will take
    trials.ceilings();
    warn_of_others(*view, beginning.others.share(), open.options.threads);
    summary = run_loop({open.graph, *open.session, trials, playbook(), open.options, *view, interrupt_flag(), wisdom.known()}, beginning);
  }
  if (page) page->finish();
  open.session->require_in_place();
  const int learnt = wisdom.learn(open);
  if (global.json) print_json(report_json(*open.session, open.session->identity()));
  else print_end(*open.session, path, summary, open.options, learnt);
  return static_cast<int>(summary.end == TuneEnd::kStopped ? ExitCode::kInterrupted : ExitCode::kOk);
}

// The session that is at `arguments.session`, when it is one of this model (wherever its file lies now) with these sizes.
OpenSession open_session_of(const TuneArguments& arguments, const GlobalOptions& global) {
  const std::string &model = arguments.model.model, &path = arguments.session;
  std::unique_ptr<Session> session = Session::open(path, Session::Access::kWrite);
  const SessionIdentity id = session->identity();
  const Backend& backend = backend_of(*session);
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::kSessionMismatch, fmt::format("{} is a session of {} {}: give --session FILE for a new one, or `amdahl resume {}` to go on with it",
                                                        path, id.model, what, shell_word(path)));
  };
  if (load_json(arguments.model.buckets) != id.load) refuse("with other sizes");
  SessionIdentity named;
  name_model(named, model, path);
  try {
    return with_model(std::move(session), path, global, model);
  } catch (const Error& error) {
    if (error.code() == ExitCode::kSessionMismatch && named.model != id.model && id.machine_fingerprint == backend.target().device.fingerprint())
      refuse(fmt::format("and {} is another model", named.model));
    throw;
  }
}

// What was given on the command line beside a session that is there already must be what it was made with.
void require_options_of(const OpenSession& open, const TuneArguments& arguments) {
  const TuneOptions& had = open.options;
  std::string differs;
  if (arguments.threads && *arguments.threads != had.threads) differs = "is tuned for " + counted(had.threads, "thread");
  else if (arguments.allow_bf16 != had.allow_bf16) differs = had.allow_bf16 ? "was made with --allow bf16" : "was made without --allow bf16";
  else if (arguments.max_error && *arguments.max_error != had.max_error) differs = fmt::format("was made with --max-error {:g}", had.max_error);
  else if (arguments.seed && *arguments.seed != had.seed) differs = fmt::format("was made with --seed {}", had.seed);
  const std::string& path = arguments.session;
  if (!differs.empty())
    throw Error(ExitCode::kSessionMismatch,
                fmt::format("{} {}: give --session FILE for a new one, or `amdahl resume {}` to go on with it", path, differs, shell_word(path)));
}

// Whoever tunes for the default is told of what else there is.
void tell_of_others(const Backend& backend, const GlobalOptions& global) {
  const std::string& own = backend.target().backend;
  if (own != backends().front().name || !global.progress()) return;
  for (const BackendRow& row : backends())
    if (const std::string seen = row.seen ? row.seen() : ""; !seen.empty())
      say("amdahl: this session is for the {}; there is {} too, for which --device {} tunes\n", own, seen, row.name);
}

OpenSession create_session(const TuneArguments& arguments, const GlobalOptions& global) {
  OpenSession open;
  open.graph = load_named_model(arguments.model, global);
  open.backend = global.backend;
  tell_of_others(*open.backend, global);
  open.options.threads = global.threads;
  open.options.seed = arguments.seed.value_or(open.options.seed);
  open.options.entropy = entropy();
  set_limits(arguments.search, open.options);
  set_precision(arguments, open.backend->target(), open.options);
  require_memory(open.graph, first_plan(open.graph, open.options.threads, open.backend->target()));  // refused with all reasons before a file is made
  set_rule(global, open.options);
  const std::string toolchain = open.backend->make_toolchain(global.cache_dir)->description();
  open.session =
      Session::create(arguments.session, identity_of(arguments.model.model, arguments.session, arguments.model.buckets, open.graph, *open.backend, toolchain));
  return open;
}

int run_tune(const TuneArguments& arguments, const GlobalOptions& global) {
  const Beginning beginning;
  OpenSession open;
  if (std::filesystem::exists(arguments.session)) {
    open = open_session_of(arguments, global);
    require_options_of(open, arguments);
    if (global.progress()) say("going on with {} ({})\n", arguments.session, counted(open.session->experiments().size(), "experiment"));
  } else {
    open = create_session(arguments, global);
  }
  return tune(open, arguments.session, arguments.search, global, beginning);
}

int run_resume(const ResumeArguments& arguments, const GlobalOptions& global) {
  const Beginning beginning;
  OpenSession open = open_session(arguments.session, Session::Access::kWrite, global, arguments.model_file);
  return tune(open, arguments.session, arguments.search, global, beginning);
}

}  // namespace

const Command kTuneCommand{"tune",
                           "MODEL [options]",
                           "makes the model faster: experiments, proofs, keeps; runs until nothing is left",
                           "Everything is kept in the session: Ctrl-C or a crash loses at most the running experiment, and\n"
                           "`amdahl resume FILE` (or the same command again) goes on.",
                           declare_tune,
                           [](const po::variables_map& values, const GlobalOptions& global) { return run_tune(read_tune(values), global); }};
const Command kResumeCommand{"resume",
                             "FILE [options]",
                             "goes on with a session",
                             "The model is found where it was, beside the session, or by --model-file; machine and model must be the same.",
                             declare_resume,
                             [](const po::variables_map& values, const GlobalOptions& global) { return run_resume(read_resume(values), global); }};

}  // namespace amdahl

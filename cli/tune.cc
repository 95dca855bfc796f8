// amdahl tune MODEL and amdahl resume FILE: the loop.

#include "base/machine.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/search/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/counted.h"
#include "base/entropy.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/shell_word.h"
#include "base/time_text.h"
#include "cli/live_page.h"
#include "cli/live_view.h"
#include "cli/find_noise.h"
#include "cli/model_options.h"
#include "cli/number_option.h"
#include "cli/open_session.h"
#include "cli/precision_option.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/session_model.h"
#include "cli/wisdom_options.h"
#include "experiments/bucket_times.h"
#include "experiments/report.h"
#include "experiments/standing.h"
#include "plan/require_memory.h"
#include "playbook/playbook.h"
#include "profiler/processor_load.h"
#include "tuner/search/finish.h"
#include "tuner/trials/workbench.h"

namespace amdahl {
namespace {

void declare_budget(Options& options) {
  options.named.add_options()                                                                                       //
      ("minutes", number_above(0, 1e6)->value_name("N"), "stop after N minutes, all work and earlier runs of the session counted")  //
      ("experiments", whole_number<int64_t>(1, 1'000'000'000)->value_name("N"), "stop after N experiments, likewise")                    //
      ("html", po::value<std::string>()->value_name("OUT"), "keep a page with plots there fresh while it tunes");
  declare_wisdom(options);
}

void declare_tune(Options& options) {
  declare_model(options);
  declare_budget(options);
  declare_allow(options);
  options.named.add_options()                                                                                           //
      ("session", po::value<std::string>()->value_name("FILE"), "where everything is kept (default: NAME.amdahl, here)")  //
      ("seed", whole_number<uint64_t>(0, UINT64_MAX)->default_value(1)->value_name("N"), "of what is tried; inputs and orders of what is timed are drawn by the system")  //
      ("max-error", number_above(0, 1)->default_value(0.02, "0.02")->value_name("X"), "with --allow: how far the model's outputs may be from float64 (relative norm)");
}

void declare_resume(Options& options) {
  options.word("session");
  declare_budget(options);
  declare_model_file(options);
}

void set_budget(const po::variables_map& values, TuneOptions& options) {
  options.seconds = values.count("minutes") ? 60 * values["minutes"].as<double>() : 0;
  options.experiments = values.count("experiments") ? values["experiments"].as<int64_t>() : 0;
}

void set_precision(const po::variables_map& values, TuneOptions& options) {
  options.max_error = values["max-error"].as<double>();
  options.allow_bf16 = allows_bf16(values);
  if (!values["max-error"].defaulted() && !options.allow_bf16)
    throw Error(ExitCode::kUsage, "--max-error limits what --allow bf16 may cost: give --allow bf16 with it, or leave it out");
  if (options.allow_bf16 && !this_machine().has("avx512_bf16"))
    say("amdahl: --allow bf16 changes nothing on this machine: it has neither AMX nor AVX512_BF16\n");
}

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The rule is set once, by this machine's noise, and stays with the session. A short budget is not spent on that: then the
// careful defaults hold.
void set_rule(const GlobalOptions& global, TuneOptions& options) {
  const bool short_budget = (options.seconds > 0 && options.seconds < 300) || (options.experiments > 0 && options.experiments < 100);
  const auto noise = find_machine_noise(global, short_budget ? NoiseForm::kCached : NoiseForm::kCachedOrShort);
  if (noise) set_rules_for(*noise, options.rules);
}

void print_headline(const Session& session, bool any_kept, TuneEnd end) {
  const auto h = session.headline();
  if (!h || h->gain.pairs == 0)
    return fmt::print("won      {}\n", any_kept ? fmt::format("not measured: {} before starter and kept plan could be compared (verify does it)",
                                                           end == TuneEnd::kStopped ? "stopped" : "time was up")
                                             : "nothing is confirmed on the whole model yet");
  const bool level = standing_of(h->gain) == Standing::kLevel;
  fmt::print("{:<8} {}, {} -> {} a run\n         {}, in {} of fresh processes\n", level ? "level" : "won", interval_text(h->gain), time_text(h->starter_seconds),
             time_text(h->kept_seconds), level ? "no difference from the starter plan is shown" : "over the starter plan", counted(h->gain.pairs, "pair"));
}

// The last lines: what was won, what was proven, what remains, what to type next.
void print_end(const Session& session, const std::string& path, const TuneSummary& summary, const TuneOptions& options, int learnt) {
  fmt::print("{}: {}\n", short_name(session.identity().model), summary.why);
  print_headline(session, any_kept(session), summary.end);
  int64_t kept = 0;
  for (const LedgerEntry& e : session.ledger()) kept += e.kept ? static_cast<int64_t>(e.experiments.size()) : 0;
  fmt::print("proven   {} of {} kept,\n         each by two tests on fresh processes and by the whole model\n", kept, counted(summary.status.experiments, "experiment"));
  if (const int64_t waiting = summary.status.kept - kept; waiting > 0)
    fmt::print("waiting  {} proven in fresh processes, for the whole model\n", counted(waiting, "win"));
  if (options.allow_bf16) {
    double error = 0;
    for (const LedgerEntry& e : session.ledger())
      if (e.kept) error = e.error;
    if (error > 0) fmt::print("error    {:.2g} from float64 (relative norm of the outputs), {:.2g} is allowed:\n         products may be in bfloat16\n", error, options.max_error);
  }
  for (const BucketTime& t : bucket_times(session, session.identity()))
    fmt::print("shape    {}: {} -> {}, {:.2f}x (sums of steps in place)\n", t.name, time_text(t.starter_seconds), time_text(t.kept_seconds),
               t.starter_seconds / t.kept_seconds);
  const std::vector<StepGroup> left = left_to_win(session);
  if (!left.empty() && left[0].seconds > left[0].floor_seconds)
    fmt::print("left     most, {} above its roofline, in\n         {} {} x{}\n", time_text(left[0].seconds - left[0].floor_seconds), left[0].kind,
               left[0].shapes, left[0].count);
  if (learnt > 0) fmt::print("learnt   {} for other sessions (amdahl wisdom list)\n", counted(learnt, "form"));
  const std::string file = shell_word(path);
  std::vector<std::string> next{"report " + file};
  if (session.headline() || any_kept(session)) next.insert(next.end(), {"verify " + file, "export " + file + " --format cxx -o DIR"});
  if (summary.end != TuneEnd::kConverged) next.push_back("resume " + file);
  for (const std::string& command : next) fmt::print("{}amdahl {}\n", &command == &next.front() ? "next     " : "         ", command);
}

// A team whose threads wait for a processor is slower than a smaller one, and what is tuned for it is tuned for that.
void warn_of_others(LiveView& view, double others, int threads) {
  const int cores = this_machine().units;
  const int free = std::clamp(static_cast<int>(std::lround(cores * (1 - others))), 1, cores);
  if (others < kBusyShare || threads <= free) return;
  view.on_note(fmt::format("other programs have {:.1f} of {}: stop them, or tune for what is free with --threads {}", others * cores, counted(cores, "processor"), free));
}

// `begun`: when the command was given. All of its time is the session's.
int tune(OpenSession& open, const std::string& path, const po::variables_map& values, const GlobalOptions& global, Clock::time_point begun, const OthersLoad& load) {
  std::optional<LivePage> page;
  if (values.count("html")) page.emplace(*open.session, values["html"].as<std::string>());
  SessionWisdom wisdom(values, global, open.options);
  Workbench bench(open.graph, std::make_shared<const CpuToolchain>(global.cache_dir), bench_options(open.options, open.options.judged_seed()), global.cache_dir);
  TuneSummary summary;
  {
    LiveView view(short_name(open.session->identity().model), global.progress(), [&] {
      if (page) page->refresh();
    });
    view.phase("measuring what this machine can do");  // before a profile is: that one says how long a gate will take
    bench.ceilings();
    warn_of_others(view, load.share(), open.options.threads);
    const TuneContext context{open.graph, *open.session, bench, playbook(), open.options, view, interrupt_flag(), wisdom.known()};
    summary = Tuner(context).run(since(begun));
    if (summary.end != TuneEnd::kStopped) {
      try {
        finish_session(context, summary);
      } catch (const Stopped&) {
        summary.end = TuneEnd::kStopped;
      }
    }
  }
  if (page) page->finish();
  open.session->require_in_place();
  const int learnt = wisdom.learn(open);
  if (global.json) print_json(report_json(*open.session, open.session->identity()));
  else print_end(*open.session, path, summary, open.options, learnt);
  return static_cast<int>(summary.end == TuneEnd::kStopped ? ExitCode::kInterrupted : ExitCode::kOk);
}

// What was given on the command line beside a session that is there already must be what it was made with.
void require_options_of(const OpenSession& open, const std::string& path, const po::variables_map& values) {
  const TuneOptions& had = open.options;
  std::string differs;
  if (values.count("threads") && values["threads"].as<int>() != had.threads)
    differs = "is tuned for " + counted(had.threads, "thread");
  else if (allows_bf16(values) != had.allow_bf16)
    differs = had.allow_bf16 ? "was made with --allow bf16" : "was made without --allow bf16";
  else if (!values["max-error"].defaulted() && values["max-error"].as<double>() != had.max_error)
    differs = fmt::format("was made with --max-error {:g}", had.max_error);
  else if (!values["seed"].defaulted() && values["seed"].as<uint64_t>() != had.seed)
    differs = fmt::format("was made with --seed {}", had.seed);
  if (!differs.empty())
    throw Error(ExitCode::kSessionMismatch, fmt::format("{} {}: give --session FILE for a new one, or `amdahl resume {}` to go on with it", path, differs, shell_word(path)));
}

// The session that is at `path`, when it is one of this model (wherever its file lies now) with these sizes.
OpenSession open_session_of(const std::string& model, const std::string& path, const po::variables_map& values, const GlobalOptions& global) {
  std::unique_ptr<Session> session = Session::open(path, Session::Access::kWrite);
  const SessionIdentity id = session->identity();
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::kSessionMismatch, fmt::format("{} is a session of {} {}: give --session FILE for a new one, or `amdahl resume {}` to go on with it",
                                                        path, id.model, what, shell_word(path)));
  };
  if (load_json(bucket_sizes(values)) != id.load) refuse("with other sizes");
  SessionIdentity named;
  name_model(named, model, path);
  try {
    return with_model(std::move(session), path, global, model);
  } catch (const Error& error) {
    if (error.code() == ExitCode::kSessionMismatch && named.model != id.model && id.machine_fingerprint == this_machine().fingerprint())
      refuse(fmt::format("and {} is another model", named.model));
    throw;
  }
}

// Options that go with the session, not into it: what is wrong with them must not leave one behind.
void require_companions(const po::variables_map& values, const std::string& session) {
  require_one_wisdom(values);
  if (!values.count("html")) return;
  const std::string page = values["html"].as<std::string>();
  require_page(page);
  if (std::filesystem::weakly_canonical(page) == std::filesystem::weakly_canonical(session))
    throw Error(ExitCode::kUsage, fmt::format("--html {}: the session is kept there: name another file", page));
}

int run_tune(const po::variables_map& values, const GlobalOptions& global) {
  const Clock::time_point begun = Clock::now();
  const OthersLoad load;
  const std::string model = required_word(values, "model", "MODEL (an ONNX file or builtin:NAME)");
  const std::string path = values.count("session") ? values["session"].as<std::string>() : short_name(model) + ".amdahl";
  require_companions(values, path);
  OpenSession open;
  if (std::filesystem::exists(path)) {
    open = open_session_of(model, path, values, global);
    require_options_of(open, path, values);
    if (global.progress()) say("going on with {} ({})\n", path, counted(open.session->experiments().size(), "experiment"));
    set_budget(values, open.options);
    return tune(open, path, values, global, begun, load);
  }
  open.graph = load_named_model(values, global);
  open.options.threads = global.threads;
  open.options.seed = values["seed"].as<uint64_t>();
  open.options.entropy = entropy();
  set_budget(values, open.options);
  set_precision(values, open.options);
  require_memory(open.graph, starter_plan(open.graph, open.options.threads, cpu_target()));  // refused with all reasons before a file is made
  const CpuToolchain toolchain(global.cache_dir);
  set_rule(global, open.options);
  open.session = Session::create(path, identity_of(model, path, bucket_sizes(values), open.graph, toolchain.description()));
  return tune(open, path, values, global, begun, load);
}

int run_resume(const po::variables_map& values, const GlobalOptions& global) {
  const Clock::time_point begun = Clock::now();
  const OthersLoad load;
  const std::string path = required_word(values, "session", "FILE, a session");
  require_companions(values, path);
  OpenSession open = open_session(path, Session::Access::kWrite, global, model_file(values));
  set_budget(values, open.options);
  return tune(open, path, values, global, begun, load);
}

}  // namespace

const Command kTuneCommand{"tune", "MODEL [options]", "makes the model faster: experiments, proofs, keeps; runs until nothing is left",
                           "Everything is kept in the session: Ctrl-C or a crash loses at most the running experiment, and\n"
                           "`amdahl resume FILE` (or the same command again) goes on.",
                           declare_tune, run_tune};
const Command kResumeCommand{"resume", "FILE [options]", "goes on with a session", "The model is found where it was, beside the session, or by --model-file; machine and model must be the same.",
                             declare_resume, run_resume};

}  // namespace amdahl

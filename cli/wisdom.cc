// amdahl wisdom list | why MODEL | merge FILE | prune: what earlier sessions proved, across models.

#include "experiments/wisdom.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <filesystem>

#include "base/counted.h"
#include "base/error.h"
#include "cli/model_options.h"
#include "cli/number_option.h"
#include "cli/precision_option.h"
#include "cli/print_json.h"
#include "cli/say.h"
#include "cli/wisdom_options.h"
#include "playbook/first_plan.h"
#include "playbook/playbook.h"
#include "tuner/search/opportunity.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  options.word("verb");
  declare_model(options);
  declare_allow(options);
  options.named.add_options()                                                                                        //
      ("wisdom", po::value<std::string>()->value_name("FILE"), "the file (default: wisdom.db in the cache folder)")  //
      ("older-than", number_from(0, 36525)->value_name("DAYS"), "prune: forms proven longer ago")                    //
      ("elsewhere", po::bool_switch(), "prune: forms proven on another CPU or with other compilers, which are never offered here");
}

// What each verb takes is read for that verb alone.
struct Arguments {
  std::string verb;
  std::optional<std::string> file;  // by default the cache folder's
  ModelArguments model;             // why
  bool allow_bf16 = false;
  std::string other;                 // merge: another wisdom file
  std::optional<double> older_than;  // prune: days
  bool elsewhere = false;
};

Arguments read(const po::variables_map& values) {
  Arguments a;
  a.verb = read_word(values, "verb", "list, why MODEL, merge FILE or prune");
  a.file = read_text(values, "wisdom");
  if (a.verb == "why") {
    a.model = read_model(values);
    a.allow_bf16 = read_allow_bf16(values);
  } else if (a.verb == "merge") {
    a.other = read_word(values, "model", "FILE, another wisdom file");
  } else if (a.verb == "prune") {
    a.elsewhere = values["elsewhere"].as<bool>();
    if (values.count("older-than")) a.older_than = values["older-than"].as<double>();
    if (!a.elsewhere && !a.older_than) throw Error(ExitCode::kUsage, "wisdom prune: say what is useless: --older-than DAYS, --elsewhere, or both");
  }
  return a;
}

Wisdom open_wisdom(const std::optional<std::string>& file, const GlobalOptions& global) {
  std::string note;
  Wisdom wisdom = Wisdom::open(file.value_or(default_wisdom(global.cache_dir)), &note);
  if (!note.empty()) say("amdahl: {}\n", note);
  return wisdom;
}

std::string day_of(int64_t unix_time) { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(unix_time))); }

std::string outside(const WisdomForm& f) { return f.origin.empty() ? "" : fmt::format("; from outside ({})", f.origin); }

int list(const Wisdom& wisdom, const GlobalOptions& global) {
  const std::vector<WisdomForm> forms = marked_forms(wisdom, global);
  const WisdomPlace here = wisdom_here(global, global.threads, true);
  const auto offered = [&](const WisdomForm& f) { return why_unknown({f}, here, f.signature, f.window); };
  if (global.json) {
    Json j = Json::array();
    for (const WisdomForm& f : forms)
      j.push_back({{"signature", f.signature},
                   {"rewrite", f.rewrite},
                   {"window", f.window},
                   {"speedup", std::exp(f.log_gain)},
                   {"model", f.model},
                   {"proven_at", f.proven_at},
                   {"threads", f.place.threads},
                   {"compiler", f.place.compiler},
                   {"allowed", f.place.allowed},
                   {"not_offered_here", offered(f)},
                   {"from_outside", f.origin}});
    print_json(j);
    return 0;
  }
  for (const WisdomForm& f : forms) {
    const std::string why = offered(f);
    fmt::print("{:5.2f}x  {:<24} {}{}  ({}, {}){}{}\n", std::exp(f.log_gain), f.rewrite, f.window, f.place.allowed.empty() ? "" : ", " + f.place.allowed,
               f.model, day_of(f.proven_at), outside(f), why.empty() ? "" : "; not offered here: " + why);
  }
  if (forms.empty()) fmt::print("{} holds nothing yet: `amdahl tune MODEL` fills it\n", wisdom.path());
  else fmt::print("\n{} in {}\n", counted(forms.size(), "form"), wisdom.path());
  return 0;
}

// Every window that a rewrite offers on the model's starter plan, once.
int why(const Wisdom& wisdom, const Arguments& arguments, const GlobalOptions& global) {
  const Graph graph = load_named_model(arguments.model, global);
  const std::vector<WisdomForm> forms = marked_forms(wisdom, global);
  const WisdomPlace here = wisdom_here(global, global.threads, arguments.allow_bf16);
  const std::map<std::string, WisdomForm> known = known_at(forms, here);
  const Plan plan = first_plan(graph, global.threads, global.backend->target());
  Profile nothing_timed;
  nothing_timed.steps.resize(plan.steps.size());
  std::map<std::string, std::pair<std::string, size_t>> windows;  // signature -> description, places
  for (const Opportunity& o : find_opportunities(graph, plan, nothing_timed, playbook(), global.backend->target()))
    windows.try_emplace(o.signature, o.describe(plan), o.windows.size());
  int hits = 0;
  Json j = Json::array();
  for (const auto& [signature, described] : windows) {
    const auto& [window, places] = described;
    const auto hit = known.find(signature);
    hits += hit != known.end();
    const std::string reason = hit == known.end() ? why_unknown(forms, here, signature, window) : "";
    if (global.json)
      j.push_back({{"signature", signature},
                   {"window", window},
                   {"places", places},
                   {"known", hit != known.end()},
                   {"reason", reason},
                   {"from_outside", hit != known.end() ? hit->second.origin : ""}});
    else if (hit != known.end())
      fmt::print("known    {} x{}: {:.2f}x by {} in {}{}\n", window, places, std::exp(hit->second.log_gain), hit->second.rewrite, hit->second.model,
                 outside(hit->second));
    else fmt::print("unknown  {} x{}: {}\n", window, places, reason);
  }
  if (global.json) print_json(j);
  else fmt::print("\nknown are {} of {} of the starter plan; each is proven again before it is used\n", hits, counted(windows.size(), "window"));
  return 0;
}

int merge(Wisdom& wisdom, const std::string& other, const GlobalOptions& global) {
  if (!std::filesystem::exists(other)) throw Error(ExitCode::kIo, fmt::format("cannot open {}: there is no such file", other));
  std::string note;
  const Wisdom from = Wisdom::open(other, &note);
  if (!note.empty()) throw Error(ExitCode::kSessionDamaged, note);
  const int taken = wisdom.learn(marked_forms(from, global));
  fmt::print("{} taken into {}, marked as from outside; each is judged and proven again where it is used\n", counted(taken, "form"), wisdom.path());
  return 0;
}

int prune(Wisdom& wisdom, const Arguments& arguments, const GlobalOptions& global) {
  const WisdomPlace here = wisdom_here(global, global.threads, true);
  const double oldest = arguments.older_than ? static_cast<double>(std::time(nullptr)) - 86400 * *arguments.older_than : -1;
  const int gone = wisdom.forget([&](const WisdomForm& f) {
    return static_cast<double>(f.proven_at) < oldest || (arguments.elsewhere && (f.place.machine != here.machine || f.place.compiler != here.compiler));
  });
  fmt::print("{} dropped from {}\n", counted(gone, "form"), wisdom.path());
  return 0;
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  const std::string& verb = arguments.verb;
  Wisdom wisdom = open_wisdom(arguments.file, global);
  if (verb == "list") return list(wisdom, global);
  if (verb == "why") return why(wisdom, arguments, global);
  if (verb == "merge") return merge(wisdom, arguments.other, global);
  if (verb == "prune") return prune(wisdom, arguments, global);
  throw Error(ExitCode::kUsage, fmt::format("wisdom {}: the verbs are list, why MODEL, merge FILE and prune", verb));
}

}  // namespace

const Command kWisdomCommand{"wisdom",
                             "list | why MODEL | merge FILE | prune [options]",
                             "what earlier sessions proved, and where it is known again",
                             "`tune` looks there first and proves again what it finds; a window that is not known is searched as usual.\n"
                             "`why` goes through the windows of a model's starter plan and says for each what is known or why nothing is.",
                             declare,
                             [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

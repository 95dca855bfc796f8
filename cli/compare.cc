// amdahl compare SESSION|MODEL: our plan beside others' runtimes, a process each, in turns.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>

#include "base/entropy.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/compare_text.h"
#include "cli/compared_model.h"
#include "cli/given_inputs.h"
#include "cli/number_option.h"
#include "cli/peers/interpreter.h"
#include "cli/peers/peer_specs.h"
#include "cli/peers/turns.h"
#include "cli/precision_option.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/session_model.h"
#include "experiments/comparison_text.h"
#include "playbook/playbook.h"
#include "profiler/core_distance.h"
#include "profiler/processor_load.h"
#include "starter_kernels/toolchain/scratch_folder.h"

namespace amdahl {
namespace {

constexpr const char* kStarter = "starter";  // the arm that --only can ask for beside the kept plan

void declare(Options& options) {
  declare_model(options);
  declare_model_file(options);
  declare_inputs(options);
  declare_allow(options);
  options.named.add_options()                                                                                                                        //
      ("only-shape", po::value<std::string>()->value_name("S"), "of a session of several shapes, this one (as the report names it)")                 //
      ("python", po::value<std::string>()->value_name("PROGRAM"), "the interpreter that has the runtimes (default: the first python3 on the path)")  //
      ("torch", po::value<std::string>()->value_name("FILE"),
       "the model in PyTorch, which reads no ONNX: FILE.py with make(), or what torch.save wrote; (module, tuple of example inputs)")  //
      ("max-autotune", po::bool_switch(), "PyTorch in that mode too, which takes minutes to start")                                    //
      ("rounds", whole_number(1, 10'000)->default_value(15)->value_name("N"), "turns of each arm; under 6 there is no 95% interval")   //
      ("limit", number_above(0, 1e5)->default_value(600, "600")->value_name("S"), "seconds that an arm has to load, or to answer")     //
      ("only", po::value<std::string>()->value_name("ARM,ARM"), "these arms beside ours; an unknown name lists them")                  //
      ("arm", po::value<std::vector<std::string>>()->composing()->value_name("NAME=COMMAND"),
       "one more arm: a program that speaks the protocol of docs/compare.md; gets MODEL INPUTS THREADS; repeat for each");
}

struct Arguments {
  CompareSubject subject;
  std::optional<std::string> python, torch;
  bool bf16 = false, max_autotune = false;
  int rounds = 0;
  double limit = 0;
  std::vector<std::string> only;                             // empty: the usual ones
  std::vector<std::pair<std::string, std::string>> of_user;  // name, command
};

std::vector<std::string> names_to_choose() {
  std::vector<std::string> names = peer_names();
  names.emplace_back(kStarter);
  return names;
}

std::vector<std::string> read_only(const std::string& text) {
  const std::vector<std::string> known = names_to_choose();
  std::vector<std::string> names;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    if (std::find(known.begin(), known.end(), names.back()) == known.end())
      throw Error(ExitCode::kUsage, fmt::format("--only: no arm '{}': give some of {}", names.back(), fmt::join(known, ",")));
    at = end + 1;
  }
  return names;
}

// Rows are known by their names: no two have the same.
std::vector<std::pair<std::string, std::string>> read_arms(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> arms;
  std::vector<std::string> taken = names_to_choose();
  taken.emplace_back("tuned");
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw Error(ExitCode::kUsage, fmt::format("--arm {}: write NAME=COMMAND", text));
    arms.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    if (std::find(taken.begin(), taken.end(), arms.back().first) != taken.end())
      throw Error(ExitCode::kUsage, fmt::format("--arm {}: there is an arm '{}' already: give it another name", text, arms.back().first));
    taken.push_back(arms.back().first);
  }
  return arms;
}

Arguments read(const po::variables_map& values) {
  Arguments a;
  if (const std::string word = read_word(values, "model", "SESSION or MODEL"); Session::is_session(word)) a.subject.session = word;
  else a.subject.model = read_model(values);
  a.subject.model_file = read_model_file(values);
  a.subject.only_shape = read_text(values, "only-shape");
  a.subject.inputs = read_inputs(values);
  if (values.count("threads")) a.subject.threads = values["threads"].as<int>();
  a.python = read_text(values, "python");
  a.torch = read_text(values, "torch");
  a.bf16 = read_allow_bf16(values);
  a.max_autotune = values["max-autotune"].as<bool>();
  a.rounds = values["rounds"].as<int>();
  a.limit = values["limit"].as<double>();
  if (const auto only = read_text(values, "only")) a.only = read_only(*only);
  if (values.count("arm")) a.of_user = read_arms(values["arm"].as<std::vector<std::string>>());
  return a;
}

bool asks_for(const std::vector<std::string>& only, const std::string& arm) { return std::find(only.begin(), only.end(), arm) != only.end(); }

// PyTorch's definition of the model: a file that was given, or a shipped model's name.
std::string torch_source(const Arguments& arguments, const ComparedModel& model, const Interpreter& interpreter) {
  if (arguments.torch) {
    if (!std::filesystem::exists(*arguments.torch))
      throw Error(ExitCode::kUsage, fmt::format("--torch {}: no such file: give one that has make(), or that torch.save wrote", *arguments.torch));
    return std::filesystem::absolute(*arguments.torch).string();
  }
  const std::string name = model.name.substr(model.name.find(':') + 1);
  return model.name.starts_with("builtin:") && interpreter.torch_names.count(name) ? name : "";
}

// Ours first. `python` gets what was asked, where one was.
std::vector<ArmSpec> specs_of(const Arguments& arguments, const ComparedModel& model, const ScratchFolder& scratch, const GlobalOptions& global,
                              std::optional<Interpreter>& python) {
  PeerRequest request;
  request.model = model_file_of(model, scratch.path());
  request.inputs = write_inputs(model, scratch.path());
  request.threads = model.threads;
  request.bf16 = arguments.bf16 || model.bf16;
  request.no_bf16 = refused_in_bf16(model.backend->target());
  request.max_autotune = arguments.max_autotune;
  std::vector<ArmSpec> specs = our_specs(model, request.inputs, asks_for(arguments.only, kStarter), global);
  const bool asks_peers = arguments.only.empty() || std::any_of(arguments.only.begin(), arguments.only.end(), [](const auto& arm) { return arm != kStarter; });
  // The runtimes that we know run on processors. Beside a card stand the arms that are given.
  if (asks_peers && model.backend->workers().candidates_run_on_host()) {
    request.arms = write_arms(scratch.path());
    python = ask_interpreter(arguments.python.value_or("python3"), arguments.python.has_value(), request.arms);
    request.torch = torch_source(arguments, model, *python);
    for (ArmSpec& spec : peer_specs(*python, request, arguments.only)) specs.push_back(std::move(spec));
  }
  for (const auto& [name, command] : arguments.of_user) specs.push_back(user_spec(name, command, request));
  return specs;
}

// Rows get their numbers, and go into the session where there is one.
void keep(std::vector<ComparedArm>& rows, double others, const ComparedModel& model) {
  const std::vector<ComparedArm> before = model.session ? model.session->compared() : std::vector<ComparedArm>{};
  const int64_t comparison = before.empty() ? 1 : before.back().comparison + 1;
  int64_t id = before.empty() ? 0 : before.back().id;
  for (ComparedArm& row : rows) {
    row.id = ++id;
    row.comparison = comparison;
    row.made_at = std::time(nullptr);
    row.shape = model.shape;
    row.others = others;
  }
  if (!model.session) return;
  Commit commit;
  commit.compared = rows;
  model.session->commit(commit);
}

Json document(const Arguments& arguments, const ComparedModel& model, const std::vector<ComparedArm>& rows, const std::optional<Interpreter>& python,
              const std::vector<std::vector<double>>& distances) {
  const std::optional<Baseline> baseline = best_baseline(rows);
  return {{"model", model.name},
          {"session", arguments.subject.session.empty() ? Json() : Json(arguments.subject.session)},
          {"threads", model.threads},
          {"rounds", arguments.rounds},
          {"python", python ? Json{{"program", python->program}, {"packages", python->packages}} : Json()},
          {"best_baseline", baseline ? baseline_json(*baseline) : Json()},
          {"core_distance_seconds", distances},
          {"arms", rows}};
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  const ComparedModel model = open_compared(arguments.subject, global);
  model.backend->make_toolchain(global.cache_dir);  // and the folders of the cache
  const ScratchFolder scratch(global.cache_dir);
  std::optional<Interpreter> python;
  std::vector<ComparedArm> rows;
  std::vector<std::vector<double>> distances(static_cast<size_t>(arguments.rounds));
  const OthersLoad others;  // arms, which end with the turns, are none
  {
    Progress progress("comparing", global.progress());
    progress.update(0, 0, "writing the model and its inputs");
    const std::vector<ArmSpec> specs = specs_of(arguments, model, scratch, global, python);
    TurnWatch watch;
    watch.progress = [&](double done, double total, const std::string& note) { progress.update(done, total, note); };
    if (model.threads > 1 && model.backend->workers().candidates_run_on_host())
      watch.before_turn = [&](int round) { distances[static_cast<size_t>(round)].push_back(core_distance_seconds()); };
    rows = take_turns(specs, {arguments.rounds, arguments.limit, scratch.path(), entropy()}, watch);
  }
  keep(rows, others.share(), model);
  if (global.json) print_json(document(arguments, model, rows, python, distances));
  else fmt::print("{}{}", compared_table(rows), compare_end(rows, arguments.subject.session, model.name));
  return 0;
}

}  // namespace

const Command kCompareCommand{"compare",
                              "SESSION|MODEL [options]",
                              "our plan beside ONNX Runtime, OpenVINO and PyTorch, in turns",
                              "Measures the kept plan of a session, or the starter plan of a model, beside the runtimes that an interpreter has: a process\n"
                              "each, one at a time, in rounds of random order, all with the session's number of threads. Rows go into the session: the\n"
                              "report then shows the best baseline, also where it wins. A runtime that is missing is said, with what installs it.",
                              declare,
                              [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

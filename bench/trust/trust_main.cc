// amdahl-bench-trust: how often the pipeline is wrong, and by how much. bench/trust/run calls it; see there.
//
//   aa | placebo-builds | placebo-edits | planted    measure, and append to FOLDER/<name>.jsonl; aa and planted on a card, too (--device cuda)
//   table null|edits|planted|rivals FILE…            a Markdown table of what such files say
//   costs SESSION.amdahl…                            a Markdown table of what experiments cost

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <iostream>

#include "base/error.h"
#include "base/interrupt.h"
#include "bench/trust/studies.h"
#include "bench/trust/tables.h"
#include "bench/trust/trial_log.h"
#include "cli/find_noise.h"
#include "cli/number_option.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

using namespace amdahl;
namespace po = boost::program_options;

namespace {

const std::map<std::string, std::string (*)(const std::vector<trust::Trial>&)> kTables{
    {"null", trust::null_table}, {"edits", trust::edits_table}, {"planted", trust::planted_table}, {"rivals", trust::rivals_table}};

std::vector<double> numbers(const std::string& list) {
  std::vector<double> values;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    try {
      values.push_back(std::stod(list.substr(at, end - at)));
    } catch (const std::exception&) {
      throw Error(ExitCode::kUsage, fmt::format("'{}' is not a list of numbers: write --effects 1,3,-3", list));
    }
    if (values.back() == 0) throw Error(ExitCode::kUsage, "an effect of 0 is the study aa");
    if (!(std::abs(values.back()) < 100)) throw Error(ExitCode::kUsage, fmt::format("an effect of {:g}%: give percent between -100 and 100", values.back()));
    at = end + 1;
  }
  return values;
}

// The rule that `tune` would go by on this machine.
void set_rule(trust::WindowOptions& options) {
  GlobalOptions global;
  global.cache_dir = default_cache_dir();
  global.threads = options.threads;
  global.backend = options.backend;
  const std::optional<MachineNoise> noise = find_machine_noise(global, NoiseForm::kCachedOrShort);
  if (!noise) return;  // of a device whose code has no layouts: the careful rule
  set_rules_for(*noise, options.rules);
  for (const auto& [family, proof] : options.rules.by_family)
    fmt::print(stderr, "the rule of this machine for {}: delta {:.2f}%, {} builds of each arm\n", to_string(family), 100 * proof.rule.delta, proof.rule.builds);
}

int study(const std::string& name, const std::vector<std::string>& arguments) {
  trust::StudyOptions o;
  std::string effects, device;
  po::options_description options(name);
  options.add_options()("help", "this")                                                                                                                //
      ("device", po::value(&device)->default_value("cpu"), "cpu, cuda or cuda:1")                                                                      //
      ("minutes", number_above(0, 1e6, &o.minutes), "no experiment begins after so long: the same command goes on with what is left")                  //
      ("count", whole_number(1, 1'000'000, &o.count)->default_value(3), "experiments that come to be measured; of planted, for each effect")           //
      ("folder", po::value(&o.folder)->default_value(o.folder), "where the log lies")                                                                  //
      ("window", po::value(&o.windows)->composing(), fmt::format("one of {} (default: all in turn)", fmt::join(trust::window_names(), ", ")).c_str())  //
      ("effects", po::value(&effects), "planted: percent, as in 1,3,-3")                                                                               //
      ("verify-pairs", whole_number(1, 10'000, &o.verify_pairs)->default_value(o.verify_pairs), "planted: pairs that measure the true effect")         //
      ("pair-seconds", number_above(0, 600, &o.trial.pair_seconds)->default_value(o.trial.pair_seconds), "timed part of a pair of processes")          //
      ("threads", whole_number(1, 1024, &o.trial.threads)->default_value(o.trial.threads), "of a kernel")                                              //
      ("seed", whole_number<uint64_t>(0, UINT64_MAX, &o.trial.seed)->default_value(o.trial.seed), "of everything random");
  po::variables_map values;
  po::store(po::command_line_parser(arguments).options(options).run(), values);
  po::notify(values);
  if (values.count("help")) {
    std::cout << options;
    return 0;
  }
  o.trial.backend = &backend_named(device);
  if (o.trial.backend != &cpu_backend()) {
    if (trust::is_of_processors(name)) throw Error(ExitCode::kUsage, fmt::format("{} edits texts for processors: on a card there are aa and planted", name));
    o.trial.threads = 1;
  }
  if (o.windows.empty()) o.windows = trust::window_names();
  if (!effects.empty()) o.effects = numbers(effects);
  set_rule(o.trial);
  trust::run_study(name, o);
  return 0;
}

int table(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || !kTables.count(arguments[0]))
    throw Error(ExitCode::kUsage, "usage: amdahl-bench-trust table null|edits|planted|rivals FILE.jsonl …");
  std::vector<trust::Trial> trials;
  for (size_t i = 1; i < arguments.size(); ++i)
    for (trust::Trial& t : trust::read_trials(arguments[i])) trials.push_back(std::move(t));
  std::cout << kTables.at(arguments[0])(trials);
  return 0;
}

int dispatch(const std::vector<std::string>& arguments) {
  const std::vector<std::string> rest(arguments.begin() + !arguments.empty(), arguments.end());
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::vector<std::string> studies = trust::study_names();
  if (std::find(studies.begin(), studies.end(), command) != studies.end()) return study(command, rest);
  if (command == "table") return table(rest);
  if (command == "costs" && !rest.empty()) {
    std::cout << trust::costs_table(rest);
    return 0;
  }
  throw Error(ExitCode::kUsage, fmt::format("usage: amdahl-bench-trust {}|table|costs …", fmt::join(studies, "|")));
}

}  // namespace

int main(int argc, char** argv) try {
  install_interrupt_handler();
  return dispatch({argv + 1, argv + argc});
} catch (const Stopped&) {
  std::cerr << "stopped; what was measured is in the log: the same command goes on from there\n";
  return static_cast<int>(ExitCode::kInterrupted);
} catch (const Error& error) {
  std::cerr << error.what() << "\n";
  return static_cast<int>(error.code());
} catch (const po::error& error) {
  std::cerr << error.what() << ": see --help\n";
  return static_cast<int>(ExitCode::kUsage);
}

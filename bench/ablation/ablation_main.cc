// amdahl-bench-ablation: what each part of the loop is worth. bench/ablation/run calls it; see there.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "bench/ablation/arm.h"
#include "cli/number_option.h"
#include "graph/models/load_model.h"
#include "tuner/worker/worker_process.h"

using namespace amdahl;
namespace po = boost::program_options;

namespace {

std::vector<double> numbers(const std::string& list) {
  std::vector<double> values;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    try {
      values.push_back(std::stod(word));
    } catch (const std::exception&) {
      throw Error(ExitCode::kUsage, fmt::format("'{}' is not a list of numbers: write --at 2,5,10", list));
    }
    if (!(values.back() > 0 && values.back() <= 1e6)) throw Error(ExitCode::kUsage, fmt::format("--at {}: give minutes above 0, up to 1000000", word));
  }
  return values;
}

std::vector<ablation::Arm> chosen(const std::vector<std::string>& names) {
  std::vector<ablation::Arm> all = ablation::arms(), chosen;
  if (names.empty()) return all;
  for (const std::string& name : names) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.name == name || stem_of(a) == name; });
    if (at == all.end()) {
      std::vector<std::string> known;
      for (const auto& a : all) known.push_back(stem_of(a));
      throw Error(ExitCode::kUsage, fmt::format("there is no arm '{}'; these are: {}", name, fmt::join(known, ", ")));
    }
    chosen.push_back(*at);
  }
  return chosen;
}

// What an earlier run of the same command measured is taken as it is.
std::optional<Json> measured(const std::string& file, const Json& question) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  const Json known = Json::parse(in, nullptr, false);
  return known.is_object() && known.value("question", Json()) == question ? std::optional<Json>(known) : std::nullopt;
}

int run(int argc, char** argv) {
  ablation::Budget budget;
  std::string model = "builtin:gpt2", folder = "ablation", at;
  std::vector<std::string> names;
  po::options_description options("options");
  options.add_options()("help", "this")                                                                                             //
      ("model", po::value(&model)->default_value(model), "an ONNX file or builtin:NAME")                                            //
      ("minutes", number_above(0, 1e6, &budget.minutes)->default_value(budget.minutes), "of each arm")                              //
      ("at", po::value(&at), "minutes after which the plan of then is measured (default: 2,5 and the end)")                         //
      ("arm", po::value(&names)->composing(), "one arm; may be given again (default: all)")                                         //
      ("pairs", whole_number(1, 10'000, &budget.pairs)->default_value(budget.pairs), "of fresh processes, for each measured plan")  //
      ("seed", whole_number<uint64_t>(0, UINT64_MAX, &budget.seed)->default_value(budget.seed), "of everything random")             //
      ("folder", po::value(&folder)->default_value(folder), "gets ARM.amdahl, ARM.json, a kernel cache and ablation.md");
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(options).positional(po::positional_options_description().add("model", 1)).run(), values);
  po::notify(values);
  if (values.count("help")) {
    std::cout << options;
    return 0;
  }
  budget.at = numbers(at.empty() ? "2,5" : at);
  std::erase_if(budget.at, [&](double minutes) { return minutes >= budget.minutes; });
  budget.at.push_back(budget.minutes);
  std::filesystem::create_directories(folder);
  GlobalOptions global;
  global.threads = this_machine().units;
  global.cache_dir = std::filesystem::absolute(folder).string() + "/cache";
  const Graph graph = load_model(model, {});
  std::vector<Json> results;
  for (const ablation::Arm& arm : chosen(names)) {
    const std::string file = fmt::format("{}/{}.json", folder, stem_of(arm));
    const Json question = {{"model", model}, {"minutes", budget.minutes}, {"at", budget.at}, {"pairs", budget.pairs}, {"seed", budget.seed}};
    std::optional<Json> result = measured(file, question);
    if (!result) {
      fmt::print(stderr, "{}: {} for {:g} minutes\n", model, arm.name, budget.minutes);
      result = ablation::run_arm(arm, model, graph, budget, folder, global);
      (*result)["question"] = question;
      write_atomically(file, result->dump(1));
    }
    results.push_back(*result);
    write_atomically(folder + "/ablation.md", ablation::table_of(results));
  }
  std::cout << ablation::table_of(results);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  install_interrupt_handler();
  return run(argc, argv);
} catch (const Stopped&) {
  std::cerr << "stopped; arms that had ended are kept: the same command goes on from there\n";
  return static_cast<int>(ExitCode::kInterrupted);
} catch (const Error& error) {
  std::cerr << error.what() << "\n";
  return static_cast<int>(error.code());
} catch (const po::error& error) {
  std::cerr << error.what() << ": see --help\n";
  return static_cast<int>(ExitCode::kUsage);
}

// amdahl profile MODEL: where the time of the starter plan goes and what could be won.

#include "profiler/profile.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/number_option.h"
#include "cli/prepare_model.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "playbook/first_plan.h"
#include "profiler/print_profile.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  declare_model(options);
  options.named.add_options()                                                                                             //
      ("runs", whole_number(1, 100'000)->value_name("N"), "timed runs of the model (default: 3 to 15, about 2 seconds)")  //
      ("wide", po::bool_switch(), "also operations, bytes and intensity (130 columns; default on such a terminal)")       //
      ("rows", whole_number(1, 1'000'000)->default_value(20)->value_name("N"), "rows of the table");
}

struct Arguments {
  ModelArguments model;
  int runs = 0;  // 0: as many as take two seconds
  bool wide = false;
  int rows = 0;
};

Arguments read(const po::variables_map& values) {
  Arguments a;
  a.model = read_model(values);
  if (values.count("runs")) a.runs = values["runs"].as<int>();
  a.wide = values["wide"].as<bool>();
  a.rows = values["rows"].as<int>();
  return a;
}

std::vector<std::vector<double>> sample(PreparedModel& model, int runs, const GlobalOptions& global) {
  Progress progress("timing the model in place", global.progress());
  model.executor().run();  // pages, caches, threads
  std::vector<std::vector<double>> samples;
  double seconds = 0;
  const auto enough = [&] {
    const int n = static_cast<int>(samples.size());
    return runs > 0 ? n >= runs : n >= 15 || (n >= 3 && seconds > 2);
  };
  while (!enough()) {
    stop_if_interrupted();
    samples.push_back(model.run_timed());
    for (double s : samples.back()) seconds += s;
    progress.update(static_cast<double>(samples.size()), runs > 0 ? runs : 15);
  }
  return samples;
}

std::string sizes_text(const Graph& graph) {
  std::vector<std::string> inputs;
  for (ValueId input : graph.inputs) inputs.push_back(fmt::format("{} {}", shown(graph.value(input).name), to_string(graph.value(input).shape)));
  return listed(inputs);
}

bool terminal_is_wide() {
  winsize window{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 130;
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  const Graph graph = load_named_model(arguments.model, global);
  const Plan plan = first_plan(graph, global.threads, global.backend->target());
  PreparedModel model(graph, plan, global);
  for (size_t i = 0; i < graph.inputs.size(); ++i) model.set_input(static_cast<int>(i), example_input(graph, graph.inputs[i], 1));

  PerfCounters counters;
  model.executor().run();
  counters.start();
  const auto samples = sample(model, arguments.runs, global);
  const CounterReading reading = counters.stop();

  Ceilings ceilings;
  {
    Progress progress("measuring what this machine can do", global.progress());
    ceilings = cached_ceilings(global.backend->probe(), global.cache_dir, false, [&](double, const std::string& what) { progress.update(0, 0, what); });
  }
  const Profile profile = make_profile(graph, plan, samples, ceilings);

  const std::string& name = arguments.model.model;
  const DeviceInfo& device = global.backend->target().device;
  if (global.json) {
    nlohmann::json j = {{"model", name},
                        {"model_fingerprint", fingerprint(graph)},
                        {"machine", {{"backend", global.backend->target().backend}, {"cpu", device.name}, {"fingerprint", device.fingerprint()}}},
                        {"toolchain", model.toolchain()},
                        {"profile", profile_json(profile)},
                        {"counters", reading},
                        {"ceilings", ceilings}};
    print_json(j);
    return 0;
  }
  fmt::print("{}: {}, {}; {}\n", name, counted(plan.steps.size(), "step"), counted(model.kernels(), "kernel"), sizes_text(graph));
  fmt::print("{}\n\n", device.name);
  fmt::print("{}\n", profile_table(profile, ceilings, arguments.rows, arguments.wide || terminal_is_wide()));
  fmt::print("{}", counters_text(reading, profile.runs + 1));
  fmt::print("ceilings measured {} ago (`amdahl doctor --fresh` measures again){}\n", age_text(ceilings.measured_at),
             ceilings.while_busy() ? "; the machine was busy then" : "");
  return 0;
}

}  // namespace

const Command kProfileCommand{"profile",
                              "MODEL [options]",
                              "where the time goes, and what could be won back",
                              "Runs the model with its starter kernels, times every step in place, and ranks groups of equal steps by the\n"
                              "milliseconds between what they take and what this machine allows.",
                              declare,
                              [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

// amdahl peer-arm MODEL|SESSION --inputs DIR: our arm of `amdahl compare` and of benches, see cli/peers/arm_process.h for the protocol. No command that people type:
// the list of commands does not have it.
//
// Of a model the starter plan; of a session its kept plan (--starter: its starter plan), of a session of several shapes the plan for those of the inputs. On a
// card a run is one graph, timed by the card's clock.

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "cli/model_options.h"
#include "cli/open_session.h"
#include "cli/prepare_model.h"
#include "cli/session_model.h"
#include "graph/models/buckets.h"
#include "graph/onnx/tensor_io.h"
#include "plan/bucket_part.h"
#include "playbook/first_plan.h"

namespace amdahl {
namespace {

struct Arguments {
  std::string session;  // "" where a model is given
  std::string model_file, inputs;
  ModelArguments model;
  bool starter = false;
};

void declare(Options& options) {
  declare_model(options);
  declare_model_file(options);
  options.named.add_options()                                                                                //
      ("inputs", po::value<std::string>()->required()->value_name("DIR"), "names.txt, and a .npy for each")  //
      ("starter", po::bool_switch(), "the starter plan of a session");
}

Arguments read(const po::variables_map& values) {
  Arguments a;
  if (const std::string word = read_word(values, "model", "MODEL or SESSION"); Session::is_session(word)) a.session = word;
  else a.model = read_model(values);
  a.model_file = read_model_file(values);
  a.inputs = values["inputs"].as<std::string>();
  a.starter = values["starter"].as<bool>();
  return a;
}

std::map<std::string, Tensor> read_arrays(const std::string& folder) {
  std::ifstream names(folder + "/names.txt");
  if (!names) throw Error(ExitCode::kBadInput, fmt::format("{} has no names.txt: give the folder that `amdahl compare` writes", folder));
  std::map<std::string, Tensor> inputs;
  int number = 0;
  for (std::string name; std::getline(names, name); ++number) inputs[name] = load_tensor(fmt::format("{}/{}.npy", folder, number));
  return inputs;
}

BucketPart session_part(const OpenSession& open, const Arguments& arguments, const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape();
  const std::optional<size_t> bucket = bucket_for(open.graph, shapes);
  if (!bucket && !open.graph.buckets.empty()) throw Error(ExitCode::kBadInput, "the session has no plan for the shapes of the inputs: give one of its shapes");
  return bucket_part(open.graph, arguments.starter ? plan_at_start(*open.session) : gated_plan(*open.session), bucket.value_or(0));
}

// The answer to one line of the protocol; "" where none is expected.
std::string answer(PreparedModel& model, const Graph& graph, const std::string& word, const std::string& argument) {
  if (word == "run") {
    std::string times = "times";
    for (int n = std::stoi(argument); n > 0; --n) {
      const auto start = Clock::now();
      const std::optional<double> seconds = model.executor().run_clocked();
      times += fmt::format(" {:.5f}", 1e3 * (seconds ? *seconds : since(start)));
    }
    return times;
  }
  if (word != "save") return "";
  for (size_t o = 0; o < graph.outputs.size(); ++o) save_npy(model.output(static_cast<int>(o)), fmt::format("{}/{}.npy", argument, o));
  return "saved";
}

int serve(PreparedModel& model, const Graph& graph) {
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    const size_t space = std::min(line.find(' '), line.size());
    std::cout << answer(model, graph, line.substr(0, space), line.substr(std::min(space + 1, line.size()))) << std::endl;
  }
  return 0;
}

int run(const Arguments& arguments, GlobalOptions global) {
  const auto start = Clock::now();
  global.quiet = true;
  const std::map<std::string, Tensor> inputs = read_arrays(arguments.inputs);
  BucketPart part;
  if (!arguments.session.empty()) {
    const OpenSession open = open_session(arguments.session, Session::Access::kRead, global, arguments.model_file);
    if (open.backend->workers().candidates_run_on_host() && open.options.threads != global.threads)  // its kernels were written for so many
      throw Error(ExitCode::kUsage,
                  fmt::format("{0} was tuned for {1} threads, not {2}: give --threads {1}", arguments.session, open.options.threads, global.threads));
    part = session_part(open, arguments, inputs);
    global = open.with_backend(global);
  } else {
    std::set<std::string> given;
    for (const auto& [name, tensor] : inputs) given.insert(name);
    part.graph = load_named_model(arguments.model, global, given);
    part.plan = first_plan(part.graph, global.threads, global.backend->target());
  }
  const Graph& graph = part.graph;
  PreparedModel model(graph, part.plan, global);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const auto tensor = inputs.find(graph.value(graph.inputs[i]).name);
    if (tensor == inputs.end())
      throw Error(ExitCode::kBadInput, fmt::format("no input {} in {}: give all of them", graph.value(graph.inputs[i]).name, arguments.inputs));
    model.set_input(static_cast<int>(i), tensor->second);
  }
  std::cout << fmt::format("ready {:.0f}", 1e3 * since(start)) << std::endl;
  return serve(model, graph);
}

}  // namespace

const Command kPeerArmCommand{"peer-arm",
                              "MODEL|SESSION --inputs DIR [options]",
                              "our arm of a comparison, steered by lines on stdin",
                              "",
                              declare,
                              [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

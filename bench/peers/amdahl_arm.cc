// amdahl-bench-arm MODEL.onnx INPUT_DIR THREADS|DEVICE [SESSION]: our arm of compare.py and of bench/cuda/models.py, see arm.py for the protocol.
// DEVICE: "cuda" or "cuda:1"; a run is then one graph, timed by the card's clock.
//
// Without a session: the starter plan of the file. With one: its kept plan, on the session's own model (the same
// architecture and seeded weights as the file, under the session's numbering); of a session of several shapes, the plan for the
// shapes of the inputs in INPUT_DIR.

#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "cli/open_session.h"
#include "cli/prepare_model.h"
#include "graph/models/buckets.h"
#include "graph/models/load_model.h"
#include "graph/onnx/tensor_io.h"
#include "plan/bucket_part.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

using namespace amdahl;

namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) { return 1e3 * std::chrono::duration<double>(Clock::now() - start).count(); }

// By name: compare.py writes them in the file's order.
std::map<std::string, Tensor> read_inputs(const std::string& folder) {
  std::ifstream names(folder + "/names.txt");
  std::map<std::string, Tensor> inputs;
  int number = 0;
  for (std::string name; std::getline(names, name); ++number) inputs[name] = load_tensor(fmt::format("{}/{}.npy", folder, number));
  return inputs;
}

BucketPart kept_part(const OpenSession& open, const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape();
  const std::optional<size_t> bucket = bucket_for(open.graph, shapes);
  if (!bucket && !open.graph.buckets.empty()) throw Error(ExitCode::kBadInput, "the session has no plan for the inputs' shapes");
  return bucket_part(open.graph, gated_plan(*open.session), bucket.value_or(0));
}

int serve(PreparedModel& model, const Graph& graph) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word, argument;
    words >> word >> argument;
    if (word == "run") {
      std::string times = "times";
      for (int n = std::stoi(argument); n > 0; --n) {
        const auto start = Clock::now();
        const std::optional<double> seconds = model.executor().run_clocked();
        times += fmt::format(" {:.4f}", seconds ? 1e3 * *seconds : ms_since(start));
      }
      std::cout << times << std::endl;
    } else if (word == "save") {
      for (size_t o = 0; o < graph.outputs.size(); ++o) save_npy(model.output(static_cast<int>(o)), fmt::format("{}/{}.npy", argument, o));
      std::cout << "saved" << std::endl;
    } else if (word == "quit") {
      break;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto start = Clock::now();
  if (argc < 4) throw Error(ExitCode::kUsage, "usage: amdahl-bench-arm MODEL.onnx INPUT_DIR THREADS|DEVICE [SESSION]");
  GlobalOptions global;
  global.quiet = true;
  const std::string where = argv[3];
  if (std::isdigit(static_cast<unsigned char>(where[0])) != 0) global.threads = std::stoi(where);
  else global.backend = &backend_named(where);
  global.cache_dir = default_cache_dir();
  const std::map<std::string, Tensor> inputs = read_inputs(argv[2]);
  BucketPart part;
  if (argc > 4) {
    const OpenSession open = open_session(argv[4], Session::Access::kRead, global);
    if (open.options.threads != global.threads)  // its kernels were written for so many
      throw Error(ExitCode::kUsage, fmt::format("{} was tuned for {} threads, not {}", argv[4], open.options.threads, global.threads));
    part = kept_part(open, inputs);
  } else {
    part.graph = load_model(argv[1], {});
    part.plan = starter_plan(part.graph, global.threads, global.backend->target());
  }
  const Graph& graph = part.graph;
  PreparedModel model(graph, part.plan, global);
  for (size_t i = 0; i < graph.inputs.size(); ++i) model.set_input(static_cast<int>(i), inputs.at(graph.value(graph.inputs[i]).name));
  std::cout << fmt::format("ready {:.0f}", ms_since(start)) << std::endl;
  return serve(model, graph);
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}

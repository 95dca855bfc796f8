// amdahl-bench-arm MODEL.onnx INPUT_DIR THREADS [SESSION]: our arm of compare.py, see arm.py for the protocol.
//
// Without a session: the starter plan of the file. With one: its kept plan, on the session's own model (the same
// architecture and seeded weights as the file, under the session's numbering).

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "cli/open_session.h"
#include "cli/prepare_model.h"

using namespace amdahl;

namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) { return 1e3 * std::chrono::duration<double>(Clock::now() - start).count(); }

// inputs by name: compare.py writes them in the file's order.
void set_inputs(PreparedModel& model, const Graph& graph, const std::string& folder) {
  std::ifstream names(folder + "/names.txt");
  int number = 0;
  for (std::string name; std::getline(names, name); ++number)
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      if (graph.value(graph.inputs[i]).name == name)
        model.set_input(static_cast<int>(i), load_tensor(fmt::format("{}/{}.npy", folder, number)));
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
        model.executor().run();
        times += fmt::format(" {:.4f}", ms_since(start));
      }
      std::cout << times << std::endl;
    } else if (word == "save") {
      for (size_t o = 0; o < graph.outputs.size(); ++o)
        save_npy(model.output(static_cast<int>(o)), fmt::format("{}/{}.npy", argument, o));
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
  if (argc < 4) throw Error(ExitCode::kUsage, "usage: amdahl-bench-arm MODEL.onnx INPUT_DIR THREADS [SESSION]");
  GlobalOptions global;
  global.quiet = true;
  global.threads = std::stoi(argv[3]);
  global.cache_dir = default_cache_dir();
  OpenSession open;
  Plan plan;
  if (argc > 4) {
    open = open_session(argv[4], Session::Access::kRead, global);
    plan = gated_plan(*open.session);
  } else {
    open.graph = load_model(argv[1], {});
    plan = starter_plan(open.graph, global.threads);
  }
  PreparedModel model(open.graph, plan, global);
  set_inputs(model, open.graph, argv[2]);
  std::cout << fmt::format("ready {:.0f}", ms_since(start)) << std::endl;
  return serve(model, open.graph);
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}

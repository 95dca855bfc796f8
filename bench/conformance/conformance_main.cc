// amdahl-bench-conformance FILE [--kernels]: the cases of FILE (stated_case.h) by the oracle, as they are, cleaned up and with inputs that are off, and by starter
// kernels; a JSON line for each way: {"case", "way", and one of "differences" (by reference, "" where they agree), "refused", "failed"}.
// amdahl-bench-conformance --operators: the operators there are, a JSON line each.

#include <fmt/format.h>

#include <functional>
#include <iostream>

#include "base/error.h"
#include "bench/conformance/bounds.h"
#include "bench/conformance/opinions.h"
#include "cli/prepare_model.h"
#include "graph/op.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

using namespace amdahl;
using namespace amdahl::conformance;

namespace {

constexpr int kThreads = 2;  // teams of more are no other code

void list_operators() {
  for (const OpDef& op : op_list()) std::cout << Json{{"domain", op.domain}, {"name", op.name}, {"inputs", op.inputs}, {"outputs", op.outputs}}.dump() << "\n";
}

// A case may end the process: what was said before must have left it.
void say(const StatedCase& c, const char* way, const char* what, const Json& value) {
  std::cout << Json{{"case", c.name}, {"way", way}, {what, value}}.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

void report(const StatedCase& c, const char* way, const std::function<Json()>& differences) {
  try {
    say(c, way, "differences", differences());
  } catch (const Error& e) {
    say(c, way, e.code() == ExitCode::kUnsupported ? "refused" : "failed", e.what());
  } catch (const std::exception& e) {
    say(c, way, "failed", e.what());
  }
}

Json by_oracle(const StatedCase& c) { return differences(c, interpret(load(c, false))); }

Json by_kernels(const StatedCase& c) {
  const LoadedCase loaded = load(c, true);
  GlobalOptions global;
  global.quiet = true;
  global.threads = kThreads;
  global.cache_dir = default_cache_dir();
  PreparedModel model(loaded.graph, starter_plan(loaded.graph, kThreads, cpu_target()), global);
  for (size_t i = 0; i < loaded.inputs.size(); ++i) model.set_input(static_cast<int>(i), loaded.inputs[i]);
  model.executor().run();
  const std::vector<RefTensor> expected = interpret(loaded);
  for (size_t o = 0; o < expected.size(); ++o)
    if (const std::string d = difference(expected[o], model.output(static_cast<int>(o)), Computed::kAsTyped); !d.empty())
      return {{"oracle", fmt::format("output {}: {}", o, d)}};
  return {{"oracle", ""}};
}

void judge(const StatedCase& c, bool kernels) {
  report(c, "oracle", [&] { return by_oracle(c); });
  report(c, "cleaned", [&] { return Json{{"oracle", change_by_cleaning(c)}}; });
  report(c, "bounds", [&] { return Json{{"moved inputs", element_beyond_its_bound(c)}}; });
  if (kernels) report(c, "kernels", [&] { return by_kernels(c); });
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) throw Error(ExitCode::kUsage, "usage: amdahl-bench-conformance FILE [--kernels] | --operators");
  if (words[0] == "--operators") {
    list_operators();
    return 0;
  }
  const bool kernels = words.size() > 1 && words[1] == "--kernels";
  CaseReader reader(words[0]);
  while (const std::optional<StatedCase> c = reader.next()) judge(*c, kernels);
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}

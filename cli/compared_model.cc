#include "cli/compared_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/process_limits.h"
#include "base/shell_word.h"
#include "cli/given_inputs.h"
#include "cli/open_session.h"
#include "cli/peers/peer_specs.h"
#include "cli/prepare_model.h"
#include "graph/models/buckets.h"
#include "graph/models/builders.h"
#include "graph/models/index_ranges.h"
#include "graph/onnx/onnx_save.h"
#include "graph/onnx/tensor_io.h"
#include "plan/bucket_part.h"

namespace amdahl {
namespace {

constexpr uint64_t kSeed = 5;  // of the inputs: the same numbers every time

size_t bucket_named(const Graph& graph, const std::optional<std::string>& only) {
  std::vector<std::string> names;
  for (const Bucket& b : graph.buckets) names.push_back(b.name);
  const auto named = only ? std::find(names.begin(), names.end(), *only) : names.end();
  if (named != names.end()) return static_cast<size_t>(named - names.begin());
  if (names.empty() && !only) return 0;
  if (names.empty()) throw Error(ExitCode::kUsage, "--only-shape: the session was tuned for one shape alone: leave it out");
  throw Error(ExitCode::kUsage,
              fmt::format("the session has several shapes, and one is compared at a time: give --only-shape with one of {}", fmt::join(names, ", ")));
}

BuilderSizes sizes_of(const LoadOptions& load) { return {load.batch, load.seq, load.image}; }

ComparedModel from_session(const CompareSubject& subject, const GlobalOptions& global) {
  OpenSession open = open_session(subject.session, Session::Access::kWrite, global, subject.model_file);
  if (subject.threads && *subject.threads != open.options.threads)
    throw Error(ExitCode::kUsage, fmt::format("--threads {}: {} is tuned for {}, and all arms get as many: leave it out", *subject.threads, subject.session,
                                              counted(open.options.threads, "thread")));
  ComparedModel model;
  const size_t bucket = bucket_named(open.graph, subject.only_shape);
  const std::vector<Bucket>& buckets = open.graph.buckets;
  model.name = open.model;
  model.shape = buckets.empty() ? "" : buckets[bucket].name;
  const Plan kept = gated_plan(*open.session);
  model.plan = open.session->state().at("gated").get<int64_t>();
  model.threads = open.options.threads;
  model.bf16 = open.options.allow_bf16;
  model.backend = open.backend;
  model.sizes = sizes_of(bucket_sizes_of(open.session->identity().load)[bucket].options);
  model.graph = bucket_part(open.graph, kept, bucket).graph;
  model.words = {subject.session};
  if (!subject.model_file.empty()) model.words.insert(model.words.end(), {"--model-file", subject.model_file});
  model.session = std::move(open.session);
  return model;
}

// The options that say it again.
std::vector<std::string> words_of(const LoadOptions& load) {
  std::vector<std::string> words;
  for (const auto& [name, size] : {std::pair("--batch", load.batch), std::pair("--seq", load.seq), std::pair("--image", load.image)})
    if (size > 0) words.insert(words.end(), {name, std::to_string(size)});
  for (const auto& [name, shape] : load.input_shapes) words.insert(words.end(), {"--shape", fmt::format("{}={}", name, fmt::join(shape, ","))});
  for (const auto& [name, value] : load.values) words.insert(words.end(), {"--value", fmt::format("{}={}", name, value)});
  return words;
}

ComparedModel from_model(const CompareSubject& subject, const GlobalOptions& global) {
  if (subject.model.buckets.size() > 1) throw Error(ExitCode::kUsage, "one shape is compared at a time: give numbers without braces");
  if (subject.only_shape) throw Error(ExitCode::kUsage, "--only-shape is for a session of several shapes: leave it out");
  const LoadOptions& load = subject.model.buckets[0].options;
  ComparedModel model;
  std::set<std::string> given;
  for (const std::string& text : subject.inputs)
    for (const std::string& name : possible_input_names(text)) given.insert(name);
  model.graph = load_named_model(subject.model, global, given);
  model.name = subject.model.model;
  model.threads = global.threads;
  model.backend = global.backend;
  model.sizes = sizes_of(load);
  model.words = words_of(load);
  model.words.insert(model.words.begin(), model.name);
  return model;
}

std::vector<Tensor> inputs_of(const Graph& graph, const std::vector<std::string>& given) {
  std::map<std::string, Tensor> tensors = read_tensors(given, graph);
  for (ValueId input : graph.inputs)
    if (const std::string& name = graph.value(input).name; !tensors.count(name)) tensors[name] = example_input(graph, input, kSeed);
  std::vector<Tensor> inputs = checked_inputs(graph, std::move(tensors));
  check_indices(graph, inputs);
  return inputs;
}

ArmSpec our_spec(const ComparedModel& model, const std::string& inputs, bool starter, const GlobalOptions& global) {
  ArmSpec spec;
  spec.row.arm = starter ? "starter" : "tuned";
  spec.row.title = "ours";
  spec.row.form = starter ? "the starter plan" : "the kept plan";
  spec.row.ours = true;
  spec.row.threads = model.threads;
  spec.row.precision = model.bf16 && !starter ? "bf16" : "f32";
  spec.row.plan = starter ? 0 : model.plan;
  spec.command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), std::string(kPeerArmCommand.name)};
  spec.command.argv.insert(spec.command.argv.end(), model.words.begin(), model.words.end());
  spec.command.argv.insert(spec.command.argv.end(), {"--inputs", inputs, "--threads", std::to_string(model.threads), "--cache", global.cache_dir});
  if (!model.backend->workers().candidates_run_on_host())
    spec.command.argv.insert(spec.command.argv.end(),
                             {"--device", fmt::format("{}:{}", model.backend->target().backend, model.backend->target().device.number)});
  if (starter && model.session) spec.command.argv.push_back("--starter");
  spec.command.environment = bound_threads(model.threads);
  spec.command.environment.push_back("GOMP_SPINCOUNT=20000");  // as of the workers that tuned it
  return spec;
}

}  // namespace

ComparedModel open_compared(const CompareSubject& subject, const GlobalOptions& global) {
  ComparedModel model = subject.session.empty() ? from_model(subject, global) : from_session(subject, global);
  model.inputs = inputs_of(model.graph, subject.inputs);
  return model;
}

std::string model_file_of(const ComparedModel& model, const std::string& folder) {
  constexpr std::string_view kBuiltin = "builtin:";
  if (!model.name.starts_with(kBuiltin)) return std::filesystem::absolute(model.name);
  const std::string path = folder + "/model.onnx";
  save_onnx(*build_shipped_model(model.name.substr(kBuiltin.size()), model.sizes), path, false);
  return path;
}

std::string write_inputs(const ComparedModel& model, const std::string& folder) {
  const std::string inputs = folder + "/inputs";
  std::filesystem::create_directories(inputs);
  errno = 0;
  std::ofstream names(inputs + "/names.txt");
  size_t count = 0;
  const auto write = [&](const std::string& name, const Tensor& tensor) {
    save_npy(tensor, fmt::format("{}/{}.npy", inputs, count++));
    names << name << "\n";
  };
  for (size_t i = 0; i < model.inputs.size(); ++i) write(model.graph.value(model.graph.inputs[i]).name, model.inputs[i]);
  for (const FixedInput& fixed : model.graph.fixed_inputs) write(fixed.name, fixed.tensor);  // of the file, which other runtimes run
  if (!names.flush()) throw machine_refuses("write into " + inputs, errno);
  return inputs;
}

std::vector<ArmSpec> our_specs(const ComparedModel& model, const std::string& inputs, bool starter_too, const GlobalOptions& global) {
  std::vector<ArmSpec> specs{our_spec(model, inputs, !model.session, global)};
  if (model.session && starter_too) specs.push_back(our_spec(model, inputs, true, global));
  for (ArmSpec& spec : specs) spec.row.shape = model.shape;
  return specs;
}

}  // namespace amdahl

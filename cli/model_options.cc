#include "cli/model_options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "cli/progress.h"

namespace amdahl {
namespace {

int64_t size_option(const po::variables_map& values, const char* name) {
  if (!values.count(name)) return 0;
  const int64_t size = values[name].as<int64_t>();
  if (size < 1) throw Error(ExitCode::kUsage, fmt::format("--{} {}: give a number from 1 on", name, size));
  return size;
}

}  // namespace

void declare_sizes(Options& options) {
  options.named.add_options()                                                             //
      ("batch", po::value<int64_t>()->value_name("N"), "batch size of a builtin model")   //
      ("seq", po::value<int64_t>()->value_name("N"), "sequence length of a builtin model")  //
      ("image", po::value<int64_t>()->value_name("N"), "image side of a builtin model");
}

void declare_model(Options& options) {
  options.word("model");
  options.named.add_options()("shape", po::value<std::vector<std::string>>()->composing()->value_name("NAME=1,128"),
                              "shape of an input whose dimensions the file leaves open; repeat for each");
  declare_sizes(options);
}

std::string required_word(const po::variables_map& values, const char* name, const char* shown) {
  if (!values.count(name)) throw Error(ExitCode::kUsage, fmt::format("missing {}: see --help of this command", shown));
  return values[name].as<std::vector<std::string>>().front();
}

std::pair<std::string, Shape> parse_shape(const std::string& text) {
  const auto bad = [&] {
    return Error(ExitCode::kUsage, fmt::format("--shape {}: write NAME=D,D,… with whole numbers, as in input_ids=1,128", text));
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw bad();
  Shape shape;
  const char *at = text.data() + equals + 1, *end = text.data() + text.size();
  while (at < end) {
    int64_t dimension = 0;
    const auto [next, error] = std::from_chars(at, end, dimension);
    if (error != std::errc{} || dimension < 0 || (next < end && (*next != ',' || next + 1 == end))) throw bad();
    shape.push_back(dimension);
    at = next + 1;
  }
  return {text.substr(0, equals), shape};
}

LoadOptions load_options(const po::variables_map& values) {
  LoadOptions options;
  options.batch = size_option(values, "batch");
  options.seq = size_option(values, "seq");
  options.image = size_option(values, "image");
  if (values.count("shape"))
    for (const std::string& text : values["shape"].as<std::vector<std::string>>()) {
      auto [name, shape] = parse_shape(text);
      if (!options.input_shapes.emplace(name, shape).second)
        throw Error(ExitCode::kUsage, fmt::format("--shape {} is given twice", name));
    }
  return options;
}

Graph load_named_model(const po::variables_map& values, const GlobalOptions& global) {
  const std::string model = required_word(values, "model", "MODEL (an ONNX file or builtin:NAME)");
  const LoadOptions options = load_options(values);
  if (model.rfind("builtin:", 0) != 0 && (options.batch || options.seq || options.image))
    throw Error(ExitCode::kUsage, "--batch, --seq and --image are for builtin models; use --shape NAME=1,128 for a file");
  Progress progress("loading " + model, global.progress());
  progress.update(0, 0);
  return load_model(model, options);
}

}  // namespace amdahl

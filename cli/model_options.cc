#include "cli/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/machine.h"
#include "base/process_limits.h"
#include "cli/progress.h"

namespace amdahl {
namespace {

constexpr std::pair<const char*, int64_t LoadOptions::*> kSizes[] = {
    {"batch", &LoadOptions::batch}, {"seq", &LoadOptions::seq}, {"image", &LoadOptions::image}};

ShapeList size_option(const std::string& name, const std::string& text) {
  const std::optional<ShapeList> list = parse_shape_list(text, 1);
  if (!list || list->shapes[0].size() != 1)
    throw Error(ExitCode::kUsage, fmt::format("--{} {}: give a whole number, 1 or more, or several in braces, as in {{16,64}}", name, text));
  return *list;
}

// Braces of all options together: as many choices in each, taken in turn.
class Choices {
 public:
  void add(const std::string& option, const ShapeList& list) {
    if (list.shapes.size() == 1) return;
    if (count_ > 1 && list.shapes.size() != count_)
      throw Error(ExitCode::kUsage, fmt::format("{} has {} choices in its braces and another option {}: give as many in each, they are taken together", option,
                                                list.shapes.size(), count_));
    count_ = list.shapes.size();
    for (const std::vector<int64_t>& numbers : list.choices)
      if (std::find(numbers_.begin(), numbers_.end(), numbers) == numbers_.end()) numbers_.push_back(numbers);
  }
  size_t count() const { return count_; }
  // "64", "1x64": what differs between the choices.
  std::string name(size_t i) const {
    std::string text;
    for (const std::vector<int64_t>& numbers : numbers_) text += fmt::format("{}{}", text.empty() ? "" : "x", numbers[i]);
    return text;
  }

 private:
  size_t count_ = 1;
  std::vector<std::vector<int64_t>> numbers_;
};

}  // namespace

void declare_sizes(Options& options) {
  options.named.add_options()                                                                                                  //
      ("batch", po::value<std::string>()->value_name("N"), "batch size of a builtin model")                                    //
      ("seq", po::value<std::string>()->value_name("N"), "sequence length of a builtin model; '{16,64}' for several at once")  //
      ("image", po::value<std::string>()->value_name("N"), "image side of a builtin model");
}

void declare_model(Options& options) {
  options.word("model");
  options.named.add_options()("shape", po::value<std::vector<std::string>>()->composing()->value_name("NAME=1,128"),
                              "shape of an input whose dimensions the file leaves open; 'NAME=1,{16,64}': several at once; repeat for each");
  options.named.add_options()("value", po::value<std::vector<std::string>>()->composing()->value_name("NAME=N"),
                              "an input that holds this number at every call: a constant, so that branches on it are decided; repeat for each");
  declare_sizes(options);
}

std::string read_word(const po::variables_map& values, const char* name, const char* shown) {
  if (!values.count(name)) throw Error(ExitCode::kUsage, fmt::format("missing {}: see --help of this command", shown));
  return values[name].as<std::vector<std::string>>().front();
}

std::optional<std::string> read_text(const po::variables_map& values, const char* name) {
  return values.count(name) ? std::optional(values[name].as<std::string>()) : std::nullopt;
}

std::pair<std::string, ShapeList> parse_shape(const std::string& text) {
  const size_t equals = text.rfind('=');
  const std::optional<ShapeList> list = equals == std::string::npos || equals == 0 ? std::nullopt : parse_shape_list(text.substr(equals + 1), 0);
  if (!list)
    throw Error(ExitCode::kUsage, fmt::format("--shape {}: write NAME=D,D,… with whole numbers, as in input_ids=1,128, or several at once, as in "
                                              "input_ids=1,{{16,64}}",
                                              text));
  return {text.substr(0, equals), *list};
}

// "sr=16000"
static std::map<std::string, double> parse_values(const std::vector<std::string>& texts) {
  std::map<std::string, double> values;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    double number = 0;
    const char* end = text.data() + text.size();
    const bool read = equals != std::string::npos && equals > 0 && equals + 1 < text.size() &&
                      std::from_chars(text.data() + equals + 1, end, number).ptr == end && std::isfinite(number);
    if (!read) throw Error(ExitCode::kUsage, fmt::format("--value {}: write NAME=N with a number, as in sr=16000", text));
    if (!values.emplace(text.substr(0, equals), number).second) throw Error(ExitCode::kUsage, fmt::format("--value {} is given twice", text.substr(0, equals)));
  }
  return values;
}

std::vector<BucketSizes> read_sizes(const po::variables_map& values) {
  Choices choices;
  std::map<std::string, ShapeList> sizes, shapes;
  for (const auto& [name, member] : kSizes)
    if (const auto text = read_text(values, name)) choices.add("--" + std::string(name), sizes[name] = size_option(name, *text));
  if (values.count("shape"))
    for (const std::string& text : values["shape"].as<std::vector<std::string>>()) {
      const auto [name, list] = parse_shape(text);
      if (!shapes.emplace(name, list).second) throw Error(ExitCode::kUsage, fmt::format("--shape {} is given twice", name));
      choices.add("--shape " + text, list);
    }
  const std::map<std::string, double> fixed =
      values.count("value") ? parse_values(values["value"].as<std::vector<std::string>>()) : std::map<std::string, double>{};
  const auto choice = [](const ShapeList& list, size_t i) { return list.shapes.size() == 1 ? list.shapes[0] : list.shapes[i]; };
  std::vector<BucketSizes> buckets;
  for (size_t i = 0; i < choices.count(); ++i) {
    BucketSizes bucket{choices.name(i), {}};
    for (const BucketSizes& other : buckets)
      if (other.name == bucket.name) throw Error(ExitCode::kUsage, fmt::format("the shape {} is given twice in braces", bucket.name));
    for (const auto& [name, member] : kSizes)
      if (sizes.count(name)) bucket.options.*member = choice(sizes.at(name), i)[0];
    bucket.options.values = fixed;
    for (const auto& [name, list] : shapes) bucket.options.input_shapes[name] = choice(list, i);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

int threads_needed(const GlobalOptions& global) { return 2 * std::max(global.threads, this_machine().units) + 4; }

ModelArguments read_model(const po::variables_map& values) {
  ModelArguments arguments;
  arguments.model = read_word(values, "model", "MODEL (an ONNX file or builtin:NAME)");
  arguments.buckets = read_sizes(values);
  return arguments;
}

Graph load_named_model(const ModelArguments& arguments, const GlobalOptions& global, const std::set<std::string>& given) {
  const std::string& model = arguments.model;
  std::vector<BucketSizes> buckets = arguments.buckets;
  for (BucketSizes& b : buckets) b.options.given = given;
  const LoadOptions& first = buckets[0].options;
  if (model.rfind("builtin:", 0) != 0 && (first.batch || first.seq || first.image))
    throw Error(ExitCode::kUsage, "--batch, --seq and --image are for builtin models; use --shape NAME=1,128 for a file");
  require_threads(threads_needed(global));
  Progress progress("loading " + model, global.progress());
  progress.update(0, 0);
  return load_buckets(model, buckets);
}

}  // namespace amdahl

#pragma once
// The options by which a command names a model and its sizes, and what they say. Functions that begin with read_ are the only ones that look into the
// values of a command line; what they return goes on from there.

#include <optional>
#include <set>
#include <string>

#include "cli/commands.h"
#include "cli/shape_lists.h"
#include "graph/models/buckets.h"

namespace amdahl {

// MODEL, --shape, --batch, --seq, --image.
void declare_model(Options& options);
void declare_sizes(Options& options);  // --batch, --seq, --image alone

struct ModelArguments {
  std::string model;                 // an ONNX file or builtin:NAME
  std::vector<BucketSizes> buckets;  // one, or one for every choice in braces
};

// The single word `name`; throws Error(kUsage) when it is missing.
std::string read_word(const po::variables_map& values, const char* name, const char* shown);
// What was given by an option that takes a text.
std::optional<std::string> read_text(const po::variables_map& values, const char* name);
// Both throw Error(kUsage) when a value makes no sense.
std::vector<BucketSizes> read_sizes(const po::variables_map& values);
ModelArguments read_model(const po::variables_map& values);

// OpenMP's of a kernel and those that compile beside them.
int threads_needed(const GlobalOptions& global);
// `given`: as in LoadOptions.
Graph load_named_model(const ModelArguments& arguments, const GlobalOptions& global, const std::set<std::string>& given = {});

// "x=1,128" -> {"x", {1, 128}}. Throws Error(kUsage).
std::pair<std::string, ShapeList> parse_shape(const std::string& text);

}  // namespace amdahl

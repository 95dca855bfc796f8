#pragma once
// The options by which a command names a model and its sizes.

#include <set>
#include <string>

#include "cli/commands.h"
#include "cli/shape_lists.h"
#include "graph/models/buckets.h"

namespace amdahl {

// MODEL, --shape, --batch, --seq, --image.
void declare_model(Options& options);
void declare_sizes(Options& options);  // --batch, --seq, --image alone

// The single word `name`; throws Error(kUsage) when it is missing.
std::string required_word(const po::variables_map& values, const char* name, const char* shown);
// One entry, or one for every choice in braces. Throws Error(kUsage) when a value makes no sense.
std::vector<BucketSizes> bucket_sizes(const po::variables_map& values);
// OpenMP's of a kernel and those that compile beside them.
int threads_needed(const GlobalOptions& global);
// `given`: as in LoadOptions.
Graph load_named_model(const po::variables_map& values, const GlobalOptions& global, const std::set<std::string>& given = {});

// "x=1,128" -> {"x", {1, 128}}. Throws Error(kUsage).
std::pair<std::string, ShapeList> parse_shape(const std::string& text);

}  // namespace amdahl

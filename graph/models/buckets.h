#pragma once
// Several shapes of one model ("buckets") as one graph: the model once for each, side by side, sharing the constants that are
// equal. Whatever profiles, tunes, judges or exports a graph so does it for all shapes at once, and a window that occurs in
// several of them is one window.
//
// Values and nodes of a bucket stand together, in the order of the buckets; their names end in "@" and the bucket's name.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/onnx/onnx_load.h"

namespace amdahl {

struct BucketSizes {
  std::string name;  // "64"; "" for a model of one shape
  LoadOptions options;
};

// One: load_model. Several: a graph with `buckets`. Throws what load_model throws, and Error(kUsage) when the shapes change
// more of an input or output than its sizes.
Graph load_buckets(const std::string& model, const std::vector<BucketSizes>& buckets);

// Of Graph::inputs and Graph::outputs, those of one bucket (all, when the graph has none).
std::vector<ValueId> bucket_inputs(const Graph& graph, size_t bucket);
std::vector<ValueId> bucket_outputs(const Graph& graph, size_t bucket);
// The bucket that owns a value which is no shared constant; 0 when the graph has none.
size_t bucket_of(const std::vector<Bucket>& buckets, ValueId value);
// The first bucket whose inputs have these shapes; inputs that are not named fit. Names are those in the model.
std::optional<size_t> bucket_for(const Graph& graph, const std::map<std::string, Shape>& shapes);
// "input_ids@64" of bucket "64" is "input_ids".
std::string name_in_bucket(const Bucket& bucket, const std::string& name);

}  // namespace amdahl

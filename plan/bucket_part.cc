#include "plan/bucket_part.h"

#include "graph/models/buckets.h"

namespace amdahl {
namespace {

// Takes values and nodes over from one graph into another, on demand.
class Extract {
 public:
  Extract(const Graph& from, size_t bucket) : from_(from), bucket_(bucket), value_(from.values.size(), kNoValue), node_(from.nodes.size(), -1) {
    to_.name = from.name;
    to_.fixed_inputs = from.fixed_inputs;
  }

  ValueId value(ValueId v) {
    if (v == kNoValue) return v;
    ValueId& now = value_[static_cast<size_t>(v)];
    if (now == kNoValue) {
      now = static_cast<ValueId>(to_.values.size());
      to_.values.push_back(from_.value(v));
      to_.values.back().name = name_in_bucket(from_.buckets[bucket_], from_.value(v).name);
    }
    return now;
  }
  std::vector<ValueId> values(std::vector<ValueId> list) {
    for (ValueId& v : list) v = value(v);
    return list;
  }
  bool owns(const std::vector<ValueId>& outputs) const {
    for (ValueId v : outputs)
      if (v != kNoValue) return bucket_of(from_.buckets, v) == bucket_;
    return false;
  }
  void take_nodes() {
    to_.inputs = values(bucket_inputs(from_, bucket_));
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      if (!owns(from_.nodes[n].outputs)) continue;
      Node node = from_.nodes[n];
      node.name = name_in_bucket(from_.buckets[bucket_], node.name);
      node.inputs = values(std::move(node.inputs));
      node.outputs = values(std::move(node.outputs));
      node_[n] = static_cast<NodeId>(to_.nodes.size());
      to_.nodes.push_back(std::move(node));
    }
    to_.outputs = values(bucket_outputs(from_, bucket_));
  }
  Step step(Step s) {
    for (NodeId& n : s.nodes) n = node_[static_cast<size_t>(n)];
    for (Operand& o : s.inputs) o.value = value(o.value);
    for (Operand& o : s.outputs) o.value = value(o.value);
    return s;
  }
  Graph take() { return std::move(to_); }

 private:
  const Graph& from_;
  const size_t bucket_;
  Graph to_;
  std::vector<ValueId> value_;
  std::vector<NodeId> node_;
};

}  // namespace

BucketPart bucket_part(const Graph& graph, const Plan& plan, size_t bucket) {
  if (graph.buckets.empty()) return {graph, plan};
  Extract extract(graph, bucket);
  extract.take_nodes();
  BucketPart part;
  part.plan.threads = plan.threads;
  for (const Step& s : plan.steps)
    if (bucket_of(graph.buckets, s.outputs[0].value) == bucket) part.plan.steps.push_back(extract.step(s));
  part.graph = extract.take();
  return part;
}

}  // namespace amdahl

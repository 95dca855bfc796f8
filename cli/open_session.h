#pragma once
// A session with the model it belongs to, for the commands that go on with one.

#include <memory>

#include "cli/commands.h"
#include "experiments/session.h"
#include "graph/buckets.h"
#include "tuner/tuner.h"
#include "tuner/window_bench.h"

namespace amdahl {

struct OpenSession {
  std::unique_ptr<Session> session;
  Graph graph;
  TuneOptions options;  // of the run that made it
};

// Opens FILE, loads its model again and checks that model and machine are the same. Throws Error.
OpenSession open_session(const std::string& path, Session::Access access, const GlobalOptions& global);

// `load` as kept in SessionIdentity, and back.
Json load_json(const std::vector<BucketSizes>& buckets);
std::vector<BucketSizes> bucket_sizes_of(const Json& load);
SessionIdentity identity_of(const std::string& model, const std::vector<BucketSizes>& buckets, const Graph& graph, const std::string& toolchain);

// "gpt2" of "builtin:gpt2", "resnet" of "models/resnet.onnx".
std::string short_name(const std::string& model);

// What workers get: threads, the stop flag.
BenchOptions bench_options(int threads, uint64_t seed);
// Of a session: what it allows widens what two of its plans may differ by.
BenchOptions bench_options(const TuneOptions& session, uint64_t seed);

}  // namespace amdahl

#pragma once
// A session with the model it belongs to, for the commands that go on with one.

#include <memory>

#include "cli/commands.h"
#include "experiments/session.h"
#include "graph/models/buckets.h"
#include "tuner/search/tuner.h"
#include "tuner/trials/window_trials.h"

namespace amdahl {

struct OpenSession {
  std::unique_ptr<Session> session;
  std::string model;  // where it was found
  Graph graph;
  TuneOptions options;                      // of the run that made it
  const Backend* backend = &cpu_backend();  // that it was made on

  // What was given to the command, for work on this session's plans.
  GlobalOptions with_backend(GlobalOptions global) const {
    global.backend = backend;
    return global;
  }
};

// Opens FILE, loads its model again (session_model.h: from where it was, or `model`) and checks that model and machine are the same. Throws Error.
OpenSession open_session(const std::string& path, Session::Access access, const GlobalOptions& global, const std::string& model = "");
OpenSession with_model(std::unique_ptr<Session> session, const std::string& path, const GlobalOptions& global, const std::string& model);

// The backend that the session was tuned on. Throws Error(kSessionMismatch) when this build has none of its name.
const Backend& backend_of(const Session& session);

// `load` as kept in SessionIdentity, and back.
Json load_json(const std::vector<BucketSizes>& buckets);
std::vector<BucketSizes> bucket_sizes_of(const Json& load);
// Where the model is, absolutely and as seen from the session.
void name_model(SessionIdentity& id, const std::string& model, const std::string& session_path);
SessionIdentity identity_of(const std::string& model, const std::string& session_path, const std::vector<BucketSizes>& buckets, const Graph& graph,
                            const Backend& backend, const std::string& toolchain);

// "gpt2" of "builtin:gpt2", "resnet" of "models/resnet.onnx".
std::string short_name(const std::string& model);

// What workers get: threads, the stop flag.
TrialOptions trial_options(int threads, uint64_t seed);
// Of a session: what it allows widens what two of its plans may differ by.
TrialOptions trial_options(const TuneOptions& session, uint64_t seed);

}  // namespace amdahl

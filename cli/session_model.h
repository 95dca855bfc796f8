#pragma once
// The model of a session, which may have been moved since: with the session, or to a place that the user names.

#include "cli/commands.h"
#include "experiments/session.h"
#include "graph/graph.h"

namespace amdahl {

struct SessionModel {
  std::string name;  // "builtin:NAME" or the path where it was found
  Graph graph;
};

// --model-file FILE, for commands that are given a session.
void declare_model_file(Options& options);
// What was given by it, or "".
std::string read_model_file(const po::variables_map& values);

// `given` ("": nothing) is the only place looked at when there is one. Else: where it was, in the same place as seen from the session, and beside the
// session; the first that is the model of this session. Throws Error: kBadModel when there is none, kSessionMismatch when only others are there.
SessionModel load_session_model(const Session& session, const std::string& session_path, const std::string& given, const GlobalOptions& global);

}  // namespace amdahl

#include "cli/session_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/machine.h"
#include "base/process_limits.h"
#include "base/shell_word.h"
#include "cli/model_options.h"
#include "cli/open_session.h"
#include "cli/progress.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

bool is_builtin(const std::string& model) { return model.rfind("builtin:", 0) == 0; }

// Where it may be, best first.
std::vector<std::string> places(const SessionIdentity& id, const std::string& session_path, const std::string& given) {
  if (!given.empty()) return {given};
  if (is_builtin(id.model)) return {id.model};
  const fs::path folder = fs::path(session_path).parent_path();
  std::vector<std::string> found{id.model};
  for (const fs::path& relative : {fs::path(id.model_from_session), fs::path(id.model).filename()}) {
    const std::string place = (folder / relative).lexically_normal().string();
    if (!relative.empty() && std::find(found.begin(), found.end(), place) == found.end()) found.push_back(place);
  }
  return found;
}

bool is_there(const std::string& model) {
  std::error_code unknown;
  return is_builtin(model) || fs::exists(model, unknown);
}

Graph load(const std::string& model, const SessionIdentity& id, const GlobalOptions& global) {
  Progress progress("loading " + model, global.progress());
  progress.update(0, 0);
  return load_buckets(model, bucket_sizes_of(id.load));
}

}  // namespace

void declare_model_file(Options& options) {
  options.named.add_options()("model-file", po::value<std::string>()->value_name("FILE"), "the session's model, where it was moved to");
}

std::string read_model_file(const po::variables_map& values) { return read_text(values, "model-file").value_or(""); }

SessionModel load_session_model(const Session& session, const std::string& session_path, const std::string& given, const GlobalOptions& global) {
  const SessionIdentity& id = session.identity();
  require_threads(threads_needed(global));
  std::optional<SessionModel> other;
  for (const std::string& place : places(id, session_path, given)) {
    if (given.empty() && !is_there(place)) continue;
    SessionModel model{place, load(place, id, global)};
    if (fingerprint(model.graph) == id.model_fingerprint) return model;
    if (!other) other = std::move(model);
  }
  if (!other)
    throw Error(ExitCode::kBadModel, fmt::format("the model of {0}, {1}, is not there any more, nor beside the session: put it there, or name it with "
                                                 "--model-file FILE (or amdahl tune FILE --session {2})",
                                                 session_path, id.model, shell_word(session_path)));
  session.require_same(fingerprint(other->graph), backend_of(session).target().device.fingerprint());
  return std::move(*other);
}

}  // namespace amdahl

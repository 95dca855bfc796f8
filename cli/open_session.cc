#include "cli/open_session.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>

#include "base/counted.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "cli/say.h"
#include "cli/session_model.h"

namespace amdahl {

namespace {

// Who may write the session keeps the place where its model is now.
void remember_place(const OpenSession& open, const std::string& path) {
  SessionIdentity id = open.session->identity();
  name_model(id, open.model, path);
  if (open.session->may_write() && id.model != open.session->identity().model) open.session->set_identity(id);
}

// Threads that share a processor wait for each other: what is timed then is not what the session timed.
void warn_of_processors(const std::string& path, int threads) {
  const int cores = this_machine().units;
  if (threads <= cores) return;
  say("amdahl: {} is tuned for {}, and this process may use {}: its times will not be those of the session; give it {} (taskset, a container's limit), "
      "or tune in a new session with --threads {}\n",
      path, counted(threads, "thread"), counted(cores, "processor"), threads, cores);
}

Json json_of(const LoadOptions& options) {
  Json j{{"shape", options.input_shapes}, {"batch", options.batch}, {"seq", options.seq}, {"image", options.image}};
  if (!options.values.empty()) j["value"] = options.values;
  return j;
}

LoadOptions load_options_of(const Json& j) {
  LoadOptions options;
  options.input_shapes = j.value("shape", std::map<std::string, Shape>{});
  options.values = j.value("value", std::map<std::string, double>{});
  options.batch = j.value("batch", int64_t{0});
  options.seq = j.value("seq", int64_t{0});
  options.image = j.value("image", int64_t{0});
  return options;
}

}  // namespace

Json load_json(const std::vector<BucketSizes>& buckets) {
  if (buckets.size() == 1) return json_of(buckets[0].options);
  Json load;
  for (const BucketSizes& b : buckets) {
    Json one = json_of(b.options);
    one["name"] = b.name;
    load["buckets"].push_back(std::move(one));
  }
  return load;
}

std::vector<BucketSizes> bucket_sizes_of(const Json& load) {
  if (!load.contains("buckets")) return {{"", load_options_of(load)}};
  std::vector<BucketSizes> buckets;
  for (const Json& b : load["buckets"]) buckets.push_back({b.at("name"), load_options_of(b)});
  return buckets;
}

void name_model(SessionIdentity& id, const std::string& model, const std::string& session_path) {
  namespace fs = std::filesystem;
  const bool builtin = model.rfind("builtin:", 0) == 0;
  id.model = builtin ? model : fs::absolute(model).string();
  const fs::path folder = fs::absolute(session_path).parent_path().lexically_normal();
  id.model_from_session = builtin ? "" : fs::path(id.model).lexically_normal().lexically_relative(folder).string();
}

SessionIdentity identity_of(const std::string& model, const std::string& session_path, const std::vector<BucketSizes>& buckets, const Graph& graph,
                            const Backend& backend, const std::string& toolchain) {
  SessionIdentity id;
  name_model(id, model, session_path);
  id.model_fingerprint = fingerprint(graph);
  const DeviceInfo& device = backend.target().device;
  id.backend = backend.target().backend;
  id.machine = fmt::format("{}, {}", device.name, counted(device.units, device.unit));
  id.machine_fingerprint = device.fingerprint();
  id.load = load_json(buckets);
  id.buckets = graph.buckets;
  id.toolchain = toolchain;
  id.created_at = std::time(nullptr);
  return id;
}

std::string short_name(const std::string& model) {
  if (model.rfind("builtin:", 0) == 0) return model.substr(8);
  const std::filesystem::path path(model);
  // Exporters call every file model.onnx; the folder says which.
  const std::string stem = path.stem().string();
  const std::string folder = std::filesystem::absolute(path).parent_path().filename().string();
  return stem == "model" && !folder.empty() ? folder : stem;
}

TrialOptions trial_options(int threads, uint64_t seed) {
  TrialOptions options;
  options.worker.threads = threads;
  options.worker.stop = &interrupt_flag();
  options.seed = seed;
  return options;
}

TrialOptions trial_options(const TuneOptions& session, uint64_t seed) {
  TrialOptions options = trial_options(session.threads, seed);
  // Looked for are old or missing outputs, which differ by about their norm. An element may be several times as far off as the norm.
  if (session.allow_bf16) options.model_tolerance = std::clamp(8 * session.max_error, options.model_tolerance, 0.5);
  return options;
}

const Backend& backend_of(const Session& session) {
  const std::string& name = session.identity().backend;
  if (const BackendRow* row = find_backend(name)) return row->of_device(0);
  throw Error(ExitCode::kSessionMismatch, fmt::format("the session was made on a device of the kind '{}', which this build of amdahl does not know", name));
}

OpenSession open_session(const std::string& path, Session::Access access, const GlobalOptions& global, const std::string& model) {
  return with_model(Session::open(path, access), path, global, model);
}

OpenSession with_model(std::unique_ptr<Session> session, const std::string& path, const GlobalOptions& global, const std::string& model) {
  OpenSession open;
  open.session = std::move(session);
  SessionModel found = load_session_model(*open.session, path, model, global);
  open.model = std::move(found.name);
  open.graph = std::move(found.graph);
  // Of several cards alike, the one that was asked for.
  const bool asked_for = global.backend->target().backend == open.session->identity().backend;
  open.backend = asked_for ? global.backend : &backend_of(*open.session);
  open.session->require_same(fingerprint(open.graph), open.backend->target().device.fingerprint());
  remember_place(open, path);
  if (open.session->options().is_object()) open.options = open.session->options().get<TuneOptions>();
  else open.options.threads = global.threads;
  warn_of_processors(path, open.options.threads);
  return open;
}

}  // namespace amdahl

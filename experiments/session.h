#pragma once
// A session: one SQLite file that holds everything the loop did, so that it can be killed at any byte and resumed.
//
//   meta         key, value             the identities below, options, the loop's state
//   plans        id, document           plan/plan.h as JSON, with where it came from
//   experiments  id, columns, document  columns repeat what people ask for by SQL; the document is the truth
//   ledger       id, document           predicted against measured, for the whole model
//   profiles     id, document
//   variants     id, kind, source       the text of every kernel that was tried
//   compared     id, document           arms that took turns in `amdahl compare`
//   tally        commits, rows, sum     of all rows above
//
// One process writes (session_lock.h: locks that the kernel drops when the process dies), others may read at the same time. A
// commit is one transaction with synchronous=FULL.
//
// Nothing is ever lost in silence:
//   - a row carries a checksum of itself and of its place, and the tally the number and the sum of all of them: a row that
//     was changed, or is not there any more, is found when the session is opened;
//   - a bit that flips in the write-ahead log of a killed program makes SQLite take that commit and all that follow for
//     unfinished ones. FILE-lock, which a killed program leaves as well, says how many there were.

#include <memory>
#include <string>

#include "experiments/session_lock.h"
#include "experiments/session_store.h"
#include "graph/graph.h"

namespace amdahl {

// What a session belongs to. It refuses to go on elsewhere: timings do not carry over, node numbers would not fit.
struct SessionIdentity {
  std::string model;                // as the user named it: a path (made absolute) or "builtin:NAME"
  std::string model_from_session;   // the path as seen from the session's folder: both may move together; "" for a builtin
  std::string model_fingerprint;    // graph/graph.h fingerprint of the clean graph
  std::string backend = "cpu";      // Target::backend its plans are made for; a file that names none is of the time when there was one
  std::string machine;              // for people: "Intel(R) Xeon(R) …, 2 cores"
  std::string machine_fingerprint;  // DeviceInfo::fingerprint()
  Json load = Json::object();       // shapes and sizes the model was loaded with: {"shape": {...}, "batch": …}, or {"buckets": [these]}
  std::vector<Bucket> buckets;      // of the graph, when it was loaded with several shapes
  std::string toolchain;            // Toolchain::description()
  int64_t created_at = 0;           // Unix time
};
void to_json(Json& j, const SessionIdentity& s);
void from_json(const Json& j, SessionIdentity& s);

class Session : public SessionStore {
 public:
  // Bumped when the tables or documents change their meaning. Frozen by files that exist.
  // 3: the table `compared`. A session of version 2 gets it, and the version, when a first row is written; until then the programs that made it read it.
  static constexpr int64_t kSchemaVersion = 3, kOldestSchemaVersion = 2;

  enum class Access { kRead, kWrite };

  // A new file. Throws Error: kUsage when the path exists already, kSessionBusy, kIo.
  static std::unique_ptr<Session> create(const std::string& path, const SessionIdentity& identity);
  // Throws Error: kIo (missing, unreadable, unwritable), kSessionDamaged (not a session, damaged), kSessionMismatch (schema
  // version), kSessionBusy (kWrite while another process writes).
  static std::unique_ptr<Session> open(const std::string& path, Access access);
  ~Session() override;
  // Whether the file at `path` is an SQLite database, as all sessions are (and no ONNX file is).
  static bool is_session(const std::string& path);

  const SessionIdentity& identity() const { return identity_; }
  bool may_write() const { return lock_ != nullptr; }
  void set_identity(const SessionIdentity& identity);  // its model is somewhere else now
  // Throws Error(kSessionMismatch) that says what differs and what to do.
  void require_same(const std::string& model_fingerprint, const std::string& machine_fingerprint) const;

  // Throws Error(kIo), also when the file is not in its place any more (removed, moved, replaced).
  void commit(const Commit& commit) override;
  void require_in_place() const;
  std::vector<Experiment> experiments() const override { return rows_.experiments(); }
  std::vector<LedgerEntry> ledger() const override { return rows_.ledger(); }
  std::vector<PlanRecord> plans() const override { return rows_.plans(); }
  std::vector<ProfileRecord> profiles() const override { return rows_.profiles(); }
  std::vector<ComparedArm> compared() const override { return rows_.compared(); }
  Json options() const override { return rows_.options(); }
  Json state() const override { return rows_.state(); }
  std::optional<Headline> headline() const override { return rows_.headline(); }

  // The text of a kernel that was tried; "" when the session has none of this id.
  std::string source(const std::string& variant_id) const;

 private:
  class Tables;
  Session();
  void read();
  template <typename What>
  void write(const What& what);

  std::string path_;
  std::unique_ptr<SessionLock> lock_;  // kWrite only; outlives the tables
  std::unique_ptr<Tables> tables_;
  SessionIdentity identity_;
  MemoryStore rows_;  // what the file holds, read once
};

}  // namespace amdahl

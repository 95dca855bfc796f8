#include "experiments/wisdom.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>

#include "base/counted.h"
#include "base/error.h"
#include "experiments/provenance.h"
#include "experiments/sqlite.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kApplicationId = 0x416d6477;  // "Amdw", in the file's header
constexpr int64_t kVersion = 2;                 // 1 had no home and origin

constexpr const char* kTable =
    "forms(signature TEXT NOT NULL, machine TEXT NOT NULL, compiler TEXT NOT NULL, threads INTEGER NOT NULL, "
    "allowed TEXT NOT NULL, rewrite TEXT NOT NULL, window TEXT NOT NULL, steps TEXT NOT NULL, log_gain REAL NOT NULL, model TEXT NOT NULL, "
    "proven_at INTEGER NOT NULL, checksum INTEGER NOT NULL, home TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT '', PRIMARY KEY(signature, machine, "
    "compiler, threads, allowed)) WITHOUT ROWID";
constexpr const char* kFirstColumns = "signature, machine, compiler, threads, allowed, rewrite, window, steps, log_gain, model, proven_at";
constexpr const char* kColumns = "signature, machine, compiler, threads, allowed, rewrite, window, steps, log_gain, model, proven_at, home, origin";

Error damaged(const std::string& what) { return Error(ExitCode::kSessionDamaged, what); }

void check_rows(Database& database, const char* columns) {
  if (database.integer(fmt::format("SELECT count(*) FROM forms WHERE checksum <> checksum({})", columns)) > 0)
    throw damaged("a row does not have its checksum");
}

// Nobody noted who proved the forms of version 1: they count as from outside.
void add_provenance(Database& database) {
  Transaction transaction(database);
  check_rows(database, kFirstColumns);
  database.execute("ALTER TABLE forms ADD COLUMN home TEXT NOT NULL DEFAULT ''; ALTER TABLE forms ADD COLUMN origin TEXT NOT NULL DEFAULT ''");
  database.execute(fmt::format("UPDATE forms SET checksum = checksum({}); PRAGMA user_version = {}", kColumns, kVersion));
  transaction.commit();
}

// The file, made where it is missing. Throws Error(kSessionDamaged) when it is none of ours or of another version.
std::unique_ptr<Database> opened(const std::string& path) {
  auto database = std::make_unique<Database>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  database->execute("PRAGMA cell_size_check = ON");
  const int64_t id = database->integer("PRAGMA application_id");
  const bool empty = database->integer("SELECT count(*) FROM sqlite_master") == 0;
  if (!(empty && id == 0) && id != kApplicationId) throw damaged("it is another program's database");
  if (empty) {
    Transaction transaction(*database);
    database->execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kVersion));
    database->execute(fmt::format("CREATE TABLE IF NOT EXISTS {}", kTable));
    transaction.commit();
  }
  if (database->integer("PRAGMA user_version") == 1) add_provenance(*database);
  if (const int64_t version = database->integer("PRAGMA user_version"); version != kVersion)
    throw damaged(fmt::format("it has version {}, this program reads {}", version, kVersion));
  return database;
}

// What no checksum of a row shows: rows that are not reached any more, another table, a header that forbids to write.
void require_whole(Database& database) {
  if (const std::string check = database.text("PRAGMA quick_check(1)"); check != "ok") throw damaged(check.substr(0, check.find('\n')));
  if (database.text("SELECT sql FROM sqlite_schema WHERE name = 'forms'") != fmt::format("CREATE TABLE {}", kTable))
    throw damaged("its table is not that of a wisdom file");
  if (database.header_forbids_writing()) throw damaged("its header names a format that cannot be written");
}

std::vector<WisdomForm> read(Database& database) {
  check_rows(database, kColumns);
  std::vector<WisdomForm> forms;
  Statement select(database, fmt::format("SELECT {} FROM forms ORDER BY proven_at DESC, signature", kColumns));
  while (select.step()) {
    WisdomForm f;
    f.signature = select.text(0);
    f.place = {select.text(1), select.text(2), static_cast<int>(select.integer(3)), select.text(4)};
    f.rewrite = select.text(5);
    f.window = select.text(6);
    try {
      f.steps = Json::parse(select.text(7)).get<std::vector<Step>>();
    } catch (const Json::exception& e) {
      throw damaged(e.what());
    }
    f.log_gain = select.real(8);
    f.model = select.text(9);
    f.proven_at = select.integer(10);
    f.home = select.text(11);
    f.origin = select.text(12);
    forms.push_back(std::move(f));
  }
  return forms;
}

void write(Database& database, const WisdomForm& f) {
  Statement insert(database, fmt::format("INSERT OR REPLACE INTO forms({0}, checksum) SELECT {0}, checksum({0}) FROM (SELECT ?1 AS signature, ?2 AS machine, "
                                         "?3 AS compiler, ?4 AS threads, ?5 AS allowed, ?6 AS rewrite, ?7 AS window, ?8 AS steps, ?9 AS log_gain, "
                                         "?10 AS model, ?11 AS proven_at, ?12 AS home, ?13 AS origin)",
                                         kColumns));
  insert.bind(1, f.signature).bind(2, f.place.machine).bind(3, f.place.compiler).bind(4, int64_t{f.place.threads}).bind(5, f.place.allowed);
  insert.bind(6, f.rewrite).bind(7, f.window).bind(8, Json(f.steps).dump()).bind(9, f.log_gain).bind(10, f.model).bind(11, f.proven_at);
  insert.bind(12, f.home).bind(13, f.origin);
  insert.run();
}

void drop(Database& database, const WisdomForm& f) {
  Statement remove(database, "DELETE FROM forms WHERE signature = ?1 AND machine = ?2 AND compiler = ?3 AND threads = ?4 AND allowed = ?5");
  remove.bind(1, f.signature).bind(2, f.place.machine).bind(3, f.place.compiler).bind(4, int64_t{f.place.threads}).bind(5, f.place.allowed);
  remove.run();
}

bool same_form(const WisdomForm& a, const WisdomForm& b) { return Json(a.steps) == Json(b.steps); }

// What was proven here is not given up for what somebody claims, and takes the place of it.
bool stays(const WisdomForm& known, const WisdomForm& f) {
  if (known.origin.empty() != f.origin.empty() && !same_form(known, f)) return known.origin.empty();
  return known.log_gain >= f.log_gain && !same_form(known, f);
}

std::string given_up(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) { return multiplies_in_bf16(s.variant.problem); }) ? "bf16" : "";
}

bool offered_at(const WisdomForm& f, const WisdomPlace& place) {
  return f.place.machine == place.machine && f.place.compiler == place.compiler && f.place.threads == place.threads &&
         (f.place.allowed.empty() || f.place.allowed == place.allowed);
}

// A window's description without its sizes: "matmul [128, 768] + pointwise [128, 768]" -> "matmul  + pointwise ".
std::string kinds_of(const std::string& window) {
  std::string kinds;
  int depth = 0;
  for (const char c : window) {
    depth += c == '[';
    if (depth == 0) kinds += c;
    depth -= c == ']';
  }
  return kinds;
}

}  // namespace

std::vector<WisdomForm> proven_forms(const Graph& graph, const SessionStore& session, const WisdomPlace& place, const std::string& model, int64_t now) {
  std::map<int64_t, Plan> plans;
  for (const PlanRecord& p : session.plans()) plans[p.id] = p.plan.get<Plan>();
  std::map<int64_t, Experiment> experiments;
  for (Experiment& e : session.experiments()) experiments[e.id] = std::move(e);
  std::map<std::string, WisdomForm> last;
  for (const LedgerEntry& entry : session.ledger()) {
    if (!entry.kept) continue;
    for (const int64_t id : entry.experiments) {
      const Experiment& e = experiments.at(id);
      if (e.outcome != Outcome::kKept) continue;
      WisdomForm& f = last[e.signature];
      f.signature = e.signature;
      f.steps = localized(graph, plans.at(e.plan), {e.steps}, e.replacement.get<std::vector<Step>>());
      f.place = place;
      f.place.allowed = given_up(f.steps);
      f.rewrite = e.rewrite;
      f.window = e.window;
      f.log_gain += e.gain.log;
      f.model = model;
      f.proven_at = now;
      f.origin = holds_foreign_text(f.steps) ? e.origin : "";  // what this program writes itself is its own, whoever thought of it
    }
  }
  std::vector<WisdomForm> forms;
  for (auto& [signature, form] : last) forms.push_back(std::move(form));
  return forms;
}

void mark_outside(std::vector<WisdomForm>& forms, const std::string& home, const std::string& from, const std::string& day) {
  for (WisdomForm& f : forms) {
    if (!home.empty() && f.home == home) continue;
    if (f.origin.empty()) f.origin = fmt::format("{}, {}", from, day);
    std::replace_if(
        f.origin.begin(), f.origin.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');  // a stranger may have written it
  }
}

std::map<std::string, WisdomForm> known_at(const std::vector<WisdomForm>& forms, const WisdomPlace& place) {
  std::map<std::string, WisdomForm> known;
  for (const WisdomForm& f : forms) {
    if (!offered_at(f, place)) continue;
    const auto [it, is_new] = known.try_emplace(f.signature, f);
    if (!is_new && it->second.place.allowed.empty() && !f.place.allowed.empty()) it->second = f;
  }
  return known;
}

std::string why_unknown(const std::vector<WisdomForm>& forms, const WisdomPlace& place, const std::string& signature, const std::string& window) {
  std::string reason;
  for (const WisdomForm& f : forms) {
    if (f.signature != signature) continue;
    if (offered_at(f, place)) return "";
    if (f.place.machine != place.machine) reason = "proven on another CPU";
    else if (f.place.compiler != place.compiler) reason = fmt::format("proven with other compilers: {}", f.place.compiler);
    else if (f.place.threads != place.threads) reason = fmt::format("proven with {}, not {}", counted(f.place.threads, "thread"), place.threads);
    else reason = fmt::format("what was proven needs --allow {}", f.place.allowed);
  }
  if (!reason.empty()) return reason;
  for (const WisdomForm& f : forms)
    if (kinds_of(f.window) == kinds_of(window)) return fmt::format("proven for other sizes, wiring or attributes, as {}", f.window);
  return "nothing was proven for such a window";
}

Wisdom Wisdom::open(const std::string& path, std::string* note) {
  try {
    std::error_code ignored;
    if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, ignored);
    const auto database = opened(path);
    require_whole(*database);
    read(*database);
  } catch (const Error& error) {
    // kInternal: our own SQL does not fit the file.
    if (error.code() != ExitCode::kSessionDamaged && error.code() != ExitCode::kInternal) throw;
    const std::string aside = fmt::format("{}.damaged-{}", path, std::time(nullptr));
    std::error_code failed;
    fs::rename(path, aside, failed);
    if (failed)
      throw Error(ExitCode::kIo, fmt::format("{} is damaged ({}) and cannot be set aside: remove it, or give --wisdom another file", path, error.what()));
    for (const char* rest : {"-wal", "-shm", "-journal"}) fs::remove(path + rest, failed);
    *note = fmt::format("wisdom {} is damaged ({}): set aside as {}, a new one is begun", path, error.what(), aside);
    opened(path);
  }
  return Wisdom(path);
}

std::vector<WisdomForm> Wisdom::forms() const { return read(*opened(path_)); }

int Wisdom::learn(const std::vector<WisdomForm>& forms) {
  const auto database = opened(path_);
  Transaction transaction(*database);
  std::map<std::pair<std::string, WisdomPlace>, WisdomForm> known;
  for (WisdomForm& f : read(*database)) known[{f.signature, f.place}] = std::move(f);
  int learnt = 0;
  for (const WisdomForm& f : forms) {
    const auto it = known.find({f.signature, f.place});
    if (it != known.end() && stays(it->second, f)) continue;
    write(*database, f);
    ++learnt;
  }
  transaction.commit();
  return learnt;
}

int Wisdom::forget(const std::function<bool(const WisdomForm&)>& useless) {
  const auto database = opened(path_);
  Transaction transaction(*database);
  int count = 0;
  for (const WisdomForm& f : read(*database)) {
    if (!useless(f)) continue;
    drop(*database, f);
    ++count;
  }
  transaction.commit();
  return count;
}

std::string default_wisdom(const std::string& cache_dir) { return cache_dir + "/wisdom.db"; }

}  // namespace amdahl

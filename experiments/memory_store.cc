#include "experiments/session_store.h"

namespace amdahl {
namespace {

template <typename Row>
void upsert(std::map<int64_t, Row>& table, const std::vector<Row>& rows) {
  for (const Row& row : rows) table[row.id] = row;
}

template <typename Row>
std::vector<Row> rows_of(const std::map<int64_t, Row>& table) {
  std::vector<Row> rows;
  for (const auto& [id, row] : table) rows.push_back(row);
  return rows;
}

}  // namespace

void MemoryStore::commit(const Commit& commit) {
  upsert(experiments_, commit.experiments);
  upsert(ledger_, commit.ledger);
  upsert(plans_, commit.plans);
  upsert(profiles_, commit.profiles);
  upsert(compared_, commit.compared);
  if (commit.options) options_ = *commit.options;
  if (commit.state) state_ = *commit.state;
  if (commit.headline) headline_ = commit.headline;
}

std::vector<Experiment> MemoryStore::experiments() const { return rows_of(experiments_); }
std::vector<LedgerEntry> MemoryStore::ledger() const { return rows_of(ledger_); }
std::vector<PlanRecord> MemoryStore::plans() const { return rows_of(plans_); }
std::vector<ProfileRecord> MemoryStore::profiles() const { return rows_of(profiles_); }
std::vector<ComparedArm> MemoryStore::compared() const { return rows_of(compared_); }

}  // namespace amdahl

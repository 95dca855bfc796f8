#include "experiments/comparison.h"

#include <algorithm>

#include "experiments/session_store.h"
#include "experiments/standing.h"

namespace amdahl {
namespace {

bool counts_against(const ComparedArm& peer, const ComparedArm& ours) {
  return !peer.ours && peer.reason.empty() && peer.seconds > 0 && (peer.precision == "f32" || peer.precision == ours.precision);
}

std::vector<ComparedArm> rows_of(const std::vector<ComparedArm>& all, int64_t comparison) {
  std::vector<ComparedArm> rows;
  for (const ComparedArm& row : all)
    if (row.comparison == comparison) rows.push_back(row);
  return rows;
}

}  // namespace

void to_json(Json& j, const ComparedArm& row) {
  j = Json{{"id", row.id},
           {"comparison", row.comparison},
           {"made_at", row.made_at},
           {"arm", row.arm},
           {"title", row.title},
           {"form", row.form},
           {"version", row.version},
           {"ours", row.ours},
           {"threads", row.threads},
           {"precision", row.precision},
           {"shape", row.shape},
           {"plan", row.plan},
           {"round_seconds", row.round_seconds},
           {"seconds", row.seconds},
           {"quiet_seconds", row.quiet_seconds},
           {"over_ours", row.over_ours},
           {"difference", row.difference ? Json(*row.difference) : Json()},
           {"others", row.others},
           {"compared_with", row.compared_with},
           {"reason", row.reason},
           {"advice", row.advice}};
}

void from_json(const Json& j, ComparedArm& row) {
  j.at("id").get_to(row.id);
  j.at("comparison").get_to(row.comparison);
  j.at("made_at").get_to(row.made_at);
  j.at("arm").get_to(row.arm);
  j.at("title").get_to(row.title);
  j.at("form").get_to(row.form);
  j.at("version").get_to(row.version);
  j.at("ours").get_to(row.ours);
  j.at("threads").get_to(row.threads);
  j.at("precision").get_to(row.precision);
  j.at("shape").get_to(row.shape);
  j.at("plan").get_to(row.plan);
  j.at("round_seconds").get_to(row.round_seconds);
  j.at("seconds").get_to(row.seconds);
  j.at("quiet_seconds").get_to(row.quiet_seconds);
  j.at("over_ours").get_to(row.over_ours);
  if (j.at("difference").is_number()) row.difference = j["difference"].get<double>();
  row.others = j.value("others", row.others);
  j.at("compared_with").get_to(row.compared_with);
  j.at("reason").get_to(row.reason);
  j.at("advice").get_to(row.advice);
}

std::optional<Baseline> best_baseline(const std::vector<ComparedArm>& rows) {
  const auto ours = std::find_if(rows.begin(), rows.end(), [](const ComparedArm& row) { return row.ours; });
  if (ours == rows.end()) return std::nullopt;
  const ComparedArm* best = nullptr;
  for (const ComparedArm& row : rows)
    if (counts_against(row, *ours) && (!best || row.seconds < best->seconds)) best = &row;
  return best ? std::optional<Baseline>({*best, *ours}) : std::nullopt;
}

std::vector<ComparedArm> shown_comparison(const SessionStore& store) {
  const std::vector<ComparedArm> all = store.compared();
  const int64_t newest = all.empty() ? 0 : all.back().comparison;
  for (int64_t comparison = newest; comparison > 0; --comparison)
    if (std::vector<ComparedArm> rows = rows_of(all, comparison); best_baseline(rows)) return rows;
  return rows_of(all, newest);
}

Json baseline_json(const Baseline& baseline) {
  const auto& [peer, ours] = baseline;
  return {{"arm", peer.arm},
          {"title", peer.title},
          {"form", peer.form},
          {"version", peer.version},
          {"precision", peer.precision},
          {"seconds", peer.seconds},
          {"over_ours", peer.over_ours},
          {"standing", name_of(standing_of(peer.over_ours))},
          {"ours", {{"arm", ours.arm}, {"plan", ours.plan}, {"precision", ours.precision}, {"seconds", ours.seconds}}},
          {"threads", ours.threads},
          {"others", peer.others},
          {"shape", ours.shape},
          {"made_at", peer.made_at},
          {"comparison", peer.comparison}};
}

}  // namespace amdahl

#include "tuner/search/pending_win.h"

namespace amdahl {

void to_json(Json& j, const PendingWin& p) {
  j = Json{{"experiment", p.experiment}, {"plan", p.plan},          {"predicted", p.predicted}, {"share", p.share}, {"proven_at", p.proven_at},
           {"confirm_at", p.confirm_at}, {"confirmed", p.confirmed}};
}

void from_json(const Json& j, PendingWin& p) {
  j.at("experiment").get_to(p.experiment);
  j.at("plan").get_to(p.plan);
  j.at("predicted").get_to(p.predicted);
  p.share = j.value("share", p.share);
  p.proven_at = j.value("proven_at", p.proven_at);
  p.confirm_at = j.value("confirm_at", p.confirm_at);
  p.confirmed = j.value("confirmed", true);  // older sessions confirmed at once
}

}  // namespace amdahl

#include "experiments/session_time.h"

#include <algorithm>

namespace amdahl {

std::vector<std::pair<std::string, double>> session_time(const SessionStore& store) {
  const Json state = store.state();
  if (!state.is_object()) return {};
  PhaseSeconds sum;
  for (const Experiment& e : store.experiments()) {
    sum.build += e.seconds.build;
    sum.validate += e.seconds.validate;
    sum.race += e.seconds.race;
    sum.prove += e.seconds.prove;
    sum.confirm += e.seconds.confirm;
  }
  const Json loop = state.value("phases", Json::object());  // sessions from before it was counted: all of it is "rest"
  std::vector<std::pair<std::string, double>> parts{{"machine", loop.value("machine", 0.0)},
                                                    {"judge", loop.value("judge", 0.0)},
                                                    {"build", sum.build + loop.value("build", 0.0)},
                                                    {"validate", sum.validate},
                                                    {"race", sum.race},
                                                    {"prove", sum.prove},
                                                    {"confirm", sum.confirm},
                                                    {"gate", loop.value("gate", 0.0)},
                                                    {"profile", loop.value("profile", 0.0)},
                                                    {"headline", loop.value("headline", 0.0)}};
  double rest = state.value("seconds", 0.0);
  for (const auto& [name, seconds] : parts) rest -= seconds;
  parts.push_back({"rest", std::max(0.0, rest)});
  parts.erase(std::remove_if(parts.begin(), parts.end(), [](const auto& part) { return part.second <= 0; }), parts.end());
  return parts;
}

}  // namespace amdahl

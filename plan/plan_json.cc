#include "plan/plan.h"

namespace amdahl {

void to_json(Json& j, const Operand& o) { j = o.format.empty() ? Json(o.value) : Json{{"value", o.value}, {"format", o.format}}; }
void from_json(const Json& j, Operand& o) {
  if (j.is_number()) {
    o = {j.get<ValueId>(), ""};
    return;
  }
  o = {j.at("value").get<ValueId>(), j.at("format").get<std::string>()};
}

void to_json(Json& j, const Step& s) { j = Json{{"nodes", s.nodes}, {"inputs", s.inputs}, {"outputs", s.outputs}, {"variant", s.variant}}; }
void from_json(const Json& j, Step& s) {
  s.nodes = j.at("nodes").get<std::vector<NodeId>>();
  s.inputs = j.at("inputs").get<std::vector<Operand>>();
  s.outputs = j.at("outputs").get<std::vector<Operand>>();
  s.variant = j.at("variant").get<Variant>();
}

void to_json(Json& j, const Plan& p) { j = Json{{"steps", p.steps}, {"threads", p.threads}}; }
void from_json(const Json& j, Plan& p) {
  p.steps = j.at("steps").get<std::vector<Step>>();
  p.threads = j.at("threads");
}

}  // namespace amdahl

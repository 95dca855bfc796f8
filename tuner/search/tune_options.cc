#include "tuner/search/tune_options.h"

namespace amdahl {

void to_json(Json& j, const TuneOptions& o) {
  j = Json{{"seconds", o.seconds},
           {"experiments", o.experiments},
           {"seed", o.seed},
           {"entropy", o.entropy},
           {"threads", o.threads},
           {"burst", o.batch},
           {"patience", o.patience},
           {"smallest_gain", o.smallest_gain},
           {"allow_bf16", o.allow_bf16},
           {"max_error", o.max_error},
           {"rule", o.rules}};
}

void from_json(const Json& j, TuneOptions& o) {
  j.at("seconds").get_to(o.seconds);
  j.at("experiments").get_to(o.experiments);
  j.at("seed").get_to(o.seed);
  o.entropy = j.value("entropy", o.entropy);
  j.at("threads").get_to(o.threads);
  j.at("burst").get_to(o.batch);
  o.patience = j.value("patience", o.patience);
  o.smallest_gain = j.value("smallest_gain", o.smallest_gain);
  o.allow_bf16 = j.value("allow_bf16", o.allow_bf16);
  o.max_error = j.value("max_error", o.max_error);
  j.at("rule").get_to(o.rules);
}

GateOptions TuneOptions::gate() const {
  GateOptions o;
  o.rule.delta = rules.of(NoiseFamily::kProducts).rule.delta;  // what most of a model is
  if (allow_bf16) o.allowed_error = max_error;
  o.made_again_seconds = PairsMadeAgain::seconds_of(seconds);
  return o;
}

}  // namespace amdahl

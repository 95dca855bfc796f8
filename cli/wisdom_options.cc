#include "cli/wisdom_options.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "base/error.h"
#include "cli/model_options.h"
#include "cli/say.h"
#include "experiments/provenance.h"

namespace amdahl {

void declare_wisdom(Options& options) {
  options.named.add_options()                                                                                                            //
      ("wisdom", po::value<std::string>()->value_name("FILE"), "what earlier sessions proved (default: wisdom.db in the cache folder)")  //
      ("no-wisdom", po::bool_switch(), "neither read nor write it");
}

WisdomArguments read_wisdom(const po::variables_map& values) {
  const WisdomArguments arguments{read_text(values, "wisdom"), values["no-wisdom"].as<bool>()};
  if (arguments.off && arguments.file) throw Error(ExitCode::kUsage, "--wisdom and --no-wisdom: give one of them");
  return arguments;
}

std::vector<WisdomForm> marked_forms(const Wisdom& wisdom, const GlobalOptions& global) {
  std::vector<WisdomForm> forms = wisdom.forms();
  mark_outside(forms, home_of(global.cache_dir), wisdom.path(), fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))));
  return forms;
}

WisdomPlace wisdom_here(const GlobalOptions& global, int threads, bool allow_bf16) {
  return {global.backend->target().device.fingerprint(), global.backend->make_toolchain(global.cache_dir)->description(), threads, allow_bf16 ? "bf16" : ""};
}

SessionWisdom::SessionWisdom(const WisdomArguments& arguments, const GlobalOptions& global, const TuneOptions& options)
    : path_(arguments.file.value_or(default_wisdom(global.cache_dir))), home_(home_of(global.cache_dir)) {
  if (arguments.off) return;
  place_ = wisdom_here(global, options.threads, options.allow_bf16);
  try {
    std::string note;
    wisdom_ = Wisdom::open(path_, &note);
    if (!note.empty()) say("amdahl: {}\n", note);
    known_ = known_at(marked_forms(*wisdom_, global), place_);
  } catch (const Error& error) {
    say("amdahl: going on without wisdom: {}\n", error.what());
    wisdom_.reset();
  }
}

int SessionWisdom::learn(const OpenSession& open) {
  if (!wisdom_) return 0;
  try {
    std::vector<WisdomForm> forms = proven_forms(open.graph, *open.session, place_, short_name(open.session->identity().model), std::time(nullptr));
    for (WisdomForm& f : forms) f.home = home_;
    return wisdom_->learn(forms);
  } catch (const Error& error) {
    say("amdahl: what this session proved is not kept as wisdom: {}\n", error.what());
    return 0;
  }
}

}  // namespace amdahl

#include "cli/tune_arguments.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "cli/live_page.h"
#include "cli/number_option.h"
#include "cli/open_session.h"
#include "cli/precision_option.h"
#include "cli/session_model.h"

namespace amdahl {
namespace {

void declare_search(Options& options) {
  options.named.add_options()                                                                                                       //
      ("minutes", number_above(0, 1e6)->value_name("N"), "stop after N minutes, all work and earlier runs of the session counted")  //
      ("experiments", whole_number<int64_t>(1, 1'000'000'000)->value_name("N"), "stop after N experiments, likewise")               //
      ("html", po::value<std::string>()->value_name("OUT"), "keep a page with plots there fresh while it tunes")                    //
      ("events", po::bool_switch(), "for programs: what happens, an object of JSON a line on standard error");
  declare_wisdom(options);
}

// nullopt where an option was not given, though it may have a default.
template <typename Number>
std::optional<Number> read_given(const po::variables_map& values, const char* name) {
  if (!values.count(name) || values[name].defaulted()) return std::nullopt;
  return values[name].as<Number>();
}

SearchArguments read_search(const po::variables_map& values, const std::string& session) {
  namespace fs = std::filesystem;
  SearchArguments a;
  a.seconds = 60 * read_given<double>(values, "minutes").value_or(0);
  a.experiments = read_given<int64_t>(values, "experiments").value_or(0);
  a.wisdom = read_wisdom(values);
  a.html = read_text(values, "html");
  a.events = values["events"].as<bool>();
  if (!a.html) return a;
  require_page(*a.html);
  if (fs::weakly_canonical(*a.html) == fs::weakly_canonical(session))
    throw Error(ExitCode::kUsage, fmt::format("--html {}: the session is kept there: name another file", *a.html));
  return a;
}

}  // namespace

void declare_tune(Options& options) {
  declare_model(options);
  declare_search(options);
  declare_allow(options);
  options.named.add_options()                                                                                             //
      ("session", po::value<std::string>()->value_name("FILE"), "where everything is kept (default: NAME.amdahl, here)")  //
      ("seed", whole_number<uint64_t>(0, UINT64_MAX)->default_value(TuneOptions{}.seed)->value_name("N"),
       "of what is tried; inputs and orders of what is timed are drawn by the system")  //
      ("max-error", number_above(0, 1)->default_value(TuneOptions{}.max_error, "0.02")->value_name("X"),
       "with --allow: how far the model's outputs may be from float64 (relative norm)");
}

void declare_resume(Options& options) {
  options.word("session");
  declare_search(options);
  declare_model_file(options);
}

TuneArguments read_tune(const po::variables_map& values) {
  TuneArguments a;
  a.model = read_model(values);
  a.session = read_text(values, "session").value_or(short_name(a.model.model) + ".amdahl");
  a.search = read_search(values, a.session);
  a.threads = read_given<int>(values, "threads");
  a.seed = read_given<uint64_t>(values, "seed");
  a.allow_bf16 = read_allow_bf16(values);
  a.max_error = read_given<double>(values, "max-error");
  return a;
}

ResumeArguments read_resume(const po::variables_map& values) {
  ResumeArguments a;
  a.session = read_word(values, "session", "FILE, a session");
  a.model_file = read_model_file(values);
  a.search = read_search(values, a.session);
  return a;
}

}  // namespace amdahl

// amdahl status FILE and amdahl report FILE: what a session amounts to. Both may be asked while it is being written.

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "experiments/report.h"

namespace amdahl {
namespace {

void declare(Options& options) { options.word("session"); }

int print(const po::variables_map& values, const GlobalOptions& global, const ReportOptions& options) {
  const auto session = Session::open(required_word(values, "session", "FILE, a session"), Session::Access::kRead);
  if (global.json)
    fmt::print("{}\n", report_json(*session, session->identity()).dump(1, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}", report_text(*session, session->identity(), options));
  return 0;
}

int run_status(const po::variables_map& values, const GlobalOptions& global) { return print(values, global, {false, 5}); }
int run_report(const po::variables_map& values, const GlobalOptions& global) { return print(values, global, {true, 12}); }

}  // namespace

const Command kStatusCommand{"status", "FILE [options]", "how far a session is, and what it has won",
                             "May be asked while the session is being tuned.", declare, run_status};
const Command kReportCommand{"report", "FILE [options]", "every experiment of a session, kept steps, ledger, what is left to win",
                             "May be asked while the session is being tuned. --json has everything but the kernels' texts.",
                             declare, run_report};

}  // namespace amdahl

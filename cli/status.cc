// amdahl status FILE and amdahl report FILE: what a session amounts to. Both may be asked while it is being written.
// report --html writes it as a page.

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/counted.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/open_session.h"
#include "cli/page_path.h"
#include "cli/print_json.h"
#include "experiments/report.h"
#include "experiments/report_page.h"

namespace amdahl {
namespace {

void declare(Options& options) { options.word("session"); }
void declare_report(Options& options) {
  declare(options);
  options.named.add_options()("html", po::value<std::string>()->value_name("OUT"), "write a page that opens from the disk, with plots");
}

struct Arguments {
  std::string session;
  std::optional<std::string> html;
};

Arguments read_status(const po::variables_map& values) { return {read_word(values, "session", "FILE, a session"), std::nullopt}; }
Arguments read_report(const po::variables_map& values) { return {read_word(values, "session", "FILE, a session"), read_text(values, "html")}; }

int print(const Arguments& arguments, const GlobalOptions& global, const ReportOptions& options) {
  const auto session = Session::open(arguments.session, Session::Access::kRead);
  if (global.json) print_json(report_json(*session, session->identity()));
  else fmt::print("{}", report_text(*session, session->identity(), options));
  return 0;
}

int write_page(const Arguments& arguments, const GlobalOptions& global) {
  const std::string& path = *arguments.html;
  const std::string file = page_path(path);
  const auto session = Session::open(arguments.session, Session::Access::kRead);
  const std::string page = report_page(*session, backend_of(*session).target());
  write_atomically(file, page);
  if (global.json) print_json(Json{{"html", path}, {"bytes", page.size()}});
  else fmt::print("{}: {}, {:.1f} MB; open it in a browser\n", path, counted(session->experiments().size(), "experiment"), page.size() / 1e6);
  return 0;
}

int run_status(const po::variables_map& values, const GlobalOptions& global) { return print(read_status(values), global, {false, 5}); }

int run_report(const po::variables_map& values, const GlobalOptions& global) {
  const Arguments arguments = read_report(values);
  return arguments.html ? write_page(arguments, global) : print(arguments, global, {true, 12});
}

}  // namespace

const Command kStatusCommand{"status", "FILE [options]", "how far a session is, and what it has won", "May be asked while the session is being tuned.",
                             declare,  run_status};
const Command kReportCommand{"report",
                             "FILE [options]",
                             "every experiment of a session, kept steps, ledger, what is left to win",
                             "May be asked while the session is being tuned. --json has everything but the kernels' texts.",
                             declare_report,
                             run_report};

}  // namespace amdahl

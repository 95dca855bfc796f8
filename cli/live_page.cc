#include "cli/live_page.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/open_session.h"
#include "cli/page_path.h"
#include "experiments/report_page.h"
#include "experiments/vega.h"

namespace amdahl {
namespace {

constexpr int kReloadSeconds = 5;
constexpr double kShareOfTime = 0.02;  // a long session makes a long page: no more of the time than this goes into writing it

}  // namespace

void require_page(const std::string& path) {
  const std::string file = page_path(path);
  vega_script();
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(ExitCode::kIo, fmt::format("cannot write {}: {}; check that its folder exists and is writable", path, std::strerror(errno)));
}

LivePage::LivePage(const Session& session, const std::string& path) : session_(session), path_(page_path(path)) { write(kReloadSeconds); }

void LivePage::refresh() {
  const double age = since(written_);
  if (age < std::max<double>(kReloadSeconds, took_ / kShareOfTime)) return;
  try {
    write(kReloadSeconds);
  } catch (const Error&) {
    written_ = Clock::now();  // the next one may succeed; finish() says what is wrong
  }
}

void LivePage::finish() { write(0); }

void LivePage::write(int reload_seconds) {
  const auto start = Clock::now();
  write_atomically(path_, report_page(session_, backend_of(session_).target(), reload_seconds));
  written_ = Clock::now();
  took_ = std::chrono::duration<double>(written_ - start).count();
}

}  // namespace amdahl

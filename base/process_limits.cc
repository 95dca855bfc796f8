#include "base/process_limits.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace amdahl {
namespace {

constexpr rlim_t kEnoughFiles = 65536;  // a limit of a million makes programs slow that close all they might have

constexpr int kRefusals[] = {EMFILE, ENFILE, EAGAIN, ENOMEM, ENOSPC, EDQUOT, EFBIG, EROFS};

std::string limit_text(__rlimit_resource_t which) {
  rlimit r{};
  if (getrlimit(which, &r) != 0 || r.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format(", which is {}", r.rlim_cur);
}

std::string advice_for(int error) {
  switch (error) {
    case EMFILE: return fmt::format("raise the limit of open files{}: ulimit -n 1024", limit_text(RLIMIT_NOFILE));
    case ENFILE: return "close other programs: the whole machine has too many open files";
    case EAGAIN: return fmt::format("close other programs, or raise the limit of processes and threads{}: ulimit -u", limit_text(RLIMIT_NPROC));
    case ENOMEM: return "close other programs, or take a smaller model";
    case ENOSPC:
    case EDQUOT: return "free some space, or give --cache and --session other folders";
    case EFBIG: return fmt::format("raise the limit of the size of files{} bytes: ulimit -f unlimited", limit_text(RLIMIT_FSIZE));
    case EROFS:
    case EACCES: return "give another folder";
    default: return "`amdahl resume` goes on when that is mended";
  }
}

void raise_open_files() {
  rlimit r{};
  if (getrlimit(RLIMIT_NOFILE, &r) != 0) return;
  r.rlim_cur = std::max(r.rlim_cur, std::min(r.rlim_max, kEnoughFiles));
  setrlimit(RLIMIT_NOFILE, &r);
}

}  // namespace

void take_what_limits_allow() {
  raise_open_files();
  struct sigaction action {};
  action.sa_handler = [](int) {};  // not SIG_IGN, which programs that are started would inherit
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &action, nullptr);
}

void require_threads(int count) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  int refused = 0;
  try {
    for (int i = 0; i < count; ++i) threads.emplace_back([&over] { over.wait(false); });
  } catch (const std::system_error& error) {
    refused = error.code().value();
  }
  over = true;
  over.notify_all();
  for (std::thread& t : threads) t.join();
  if (refused) throw machine_refuses(fmt::format("start {} threads", count), refused);
}

Error machine_refuses(const std::string& what, int error) {
  return Error(ExitCode::kIo, fmt::format("cannot {}: {}; {}", what, std::strerror(error), advice_for(error)));
}

bool is_refusal(int error) { return std::find(std::begin(kRefusals), std::end(kRefusals), error) != std::end(kRefusals); }

bool tells_of_refusal(const std::string& output) {
  return std::any_of(std::begin(kRefusals), std::end(kRefusals), [&](int error) { return output.find(std::strerror(error)) != std::string::npos; });
}

}  // namespace amdahl

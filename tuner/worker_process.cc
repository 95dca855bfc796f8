#include "tuner/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"

extern char** environ;

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Threads stay where they are put; after a region they spin for some 50 us (an idle arm must not disturb the other), then
// sleep.
std::vector<std::string> worker_environment(const WorkerOptions& options) {
  std::vector<std::string> env;
  for (char** e = environ; *e; ++e)
    if (std::strncmp(*e, "OMP_", 4) != 0 && std::strncmp(*e, "GOMP_", 5) != 0 && std::strncmp(*e, "LD_PRELOAD", 10) != 0)
      env.emplace_back(*e);
  env.push_back(fmt::format("OMP_NUM_THREADS={}", options.threads));
  env.push_back("OMP_PROC_BIND=true");
  env.push_back("OMP_PLACES=cores");
  env.push_back("OMP_DYNAMIC=false");
  env.push_back("GOMP_SPINCOUNT=20000");
  env.push_back("AMDAHL_PAD=" + std::string(options.layout_seed % 4096, 'x'));
  return env;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (std::string& s : strings) p.push_back(s.data());
  p.push_back(nullptr);
  return p;
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) throw Error(ExitCode::kIo, "cannot make a pipe: too many open files");
    read = fds[0];
    write = fds[1];
  }
};

std::string signal_text(int number) {
  const char* name = sigabbrev_np(number);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace

std::string worker_program() {
  if (const char* path = std::getenv("AMDAHL_WORKER"); path && *path) return path;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& candidate : {here / "amdahl-worker", here.parent_path() / "amdahl-worker"})
    if (fs::exists(candidate)) return candidate;
  throw Error(ExitCode::kIo, fmt::format("amdahl-worker is missing beside {}: build it, or set AMDAHL_WORKER to its path",
                                         here.string()));
}

WorkerProcess::WorkerProcess(const WorkerOptions& options)
    : options_(options), nonces_(static_cast<uint64_t>(Clock::now().time_since_epoch().count())) {
  Pipe request, reply;
  stderr_ = memfd_create("worker-stderr", MFD_CLOEXEC);
  std::vector<std::string> argv = options_.launcher;
  argv.push_back(worker_program());
  argv.insert(argv.end(), {"--memory", std::to_string(options_.memory_bytes)});
  std::vector<std::string> env = worker_environment(options_);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request.read, 0);
  posix_spawn_file_actions_adddup2(&actions, reply.write, 1);
  posix_spawn_file_actions_adddup2(&actions, stderr_, 2);
  if (options_.blob_fd >= 0) posix_spawn_file_actions_adddup2(&actions, options_.blob_fd, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv_p = pointers(argv), env_p = pointers(env);
  const int error = posix_spawnp(&pid_, argv_p[0], &actions, &attributes, argv_p.data(), env_p.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(request.read);
  close(reply.write);
  to_ = request.write;
  from_ = reply.read;
  if (error != 0) {
    pid_ = -1;
    close(to_), close(from_), close(stderr_);
    throw Error(ExitCode::kIo, fmt::format("cannot start {}: {}", argv[0], std::strerror(error)));
  }
  fcntl(to_, F_SETFL, O_NONBLOCK);
  fcntl(from_, F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    kill_group();
    waitpid(pid_, nullptr, 0);
  }
  close(to_), close(from_), close(stderr_);
}

void WorkerProcess::kill_group() { kill(-pid_, SIGKILL); }

std::string WorkerProcess::last_words() const {
  char text[400] = {};
  const off_t end = lseek(stderr_, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, end - static_cast<off_t>(sizeof text - 1));
  const ssize_t n = pread(stderr_, text, sizeof text - 1, from);
  std::string words(text, n > 0 ? static_cast<size_t>(n) : 0);
  if (const size_t fault = words.rfind("fault: "); fault != std::string::npos) words = words.substr(fault + 7);
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  if (const size_t line = words.rfind('\n'); line != std::string::npos) words = words.substr(line + 1);
  for (char& c : words)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  return words;
}

void WorkerProcess::die(IoStatus status, double seconds) {
  if (status == IoStatus::kStopped) throw Stopped{};
  Death death;
  if (status == IoStatus::kTimeout || status == IoStatus::kGarbage) kill_group();
  int how = 0;
  waitpid(pid_, &how, 0);
  kill_group();  // what the worker may have left behind
  pid_ = -1;
  const std::string words = last_words();
  const std::string tail = words.empty() ? "" : ": " + words;
  const bool memory = words.find("out of memory") != std::string::npos || words.find("bad_alloc") != std::string::npos ||
                      words.find("Thread creation failed") != std::string::npos;
  if (status == IoStatus::kTimeout) {
    death = {Death::Kind::kTimeout, fmt::format("no answer within {:.3g} s, killed", seconds)};
  } else if (status == IoStatus::kGarbage) {
    death = {Death::Kind::kGarbage, "answered with bytes that are no reply"};
  } else if (WIFSIGNALED(how) && WTERMSIG(how) == SIGSYS) {
    death = {Death::Kind::kForbidden, "SIGSYS: made a system call that kernels may not make (fork, exec, socket, write to a file)"};
  } else if (memory) {
    death = {Death::Kind::kMemory, fmt::format("memory limit of {} MiB reached{}", options_.memory_bytes >> 20, tail)};
  } else if (WIFSIGNALED(how)) {
    Death::Kind kind = Death::Kind::kSignal;
    if (words.find("read-only") != std::string::npos) kind = Death::Kind::kReadOnly;
    else if (words.find("past the end of") != std::string::npos || words.find("before the start of") != std::string::npos)
      kind = Death::Kind::kOutOfBounds;
    death = {kind, signal_text(WTERMSIG(how)) + tail};
  } else {
    death = {Death::Kind::kExit, fmt::format("exited with status {} before it answered{}", WEXITSTATUS(how), tail)};
  }
  throw WorkerDied(death);
}

Frame WorkerProcess::call(Json request, std::span<const std::byte> payload, size_t max_reply, double seconds) {
  if (pid_ < 0) throw WorkerDied({Death::Kind::kExit, "the worker is gone"});
  const uint64_t nonce = nonces_.next() >> 1;
  request["nonce"] = nonce;
  Channel channel(from_, to_);
  Frame reply;
  IoStatus status = channel.send(request, payload, seconds, options_.stop);
  if (status == IoStatus::kOk) status = channel.receive(reply, max_reply, seconds, options_.stop);
  if (status == IoStatus::kOk && reply.header.value("nonce", uint64_t{0}) != nonce) status = IoStatus::kGarbage;
  if (status != IoStatus::kOk) die(status, seconds);
  if (const auto error = reply.header.find("error"); error != reply.header.end()) {
    const std::string text = error->is_string() ? error->get<std::string>() : "unreadable error";
    if (reply.header.value("memory", false))
      throw WorkerDied({Death::Kind::kMemory, fmt::format("memory limit of {} MiB reached", options_.memory_bytes >> 20)});
    throw WorkerRefused(text);
  }
  return reply;
}

void WorkerProcess::load(const LoadRequest& request, double seconds) {
  std::vector<std::byte> bytes;
  std::string where = "none";
  if (request.use_blob_fd) where = "fd";
  else if (request.blob && request.program->blob_bytes > 0) {
    where = "payload";
    bytes.resize(request.program->blob_bytes);
    for (const auto& [offset, tensor] : request.blob->pieces)
      std::memcpy(bytes.data() + offset, tensor.data(), tensor.bytes());
  }
  call({{"op", "load"},
        {"program", *request.program},
        {"blob", where},
        {"layout", static_cast<int>(request.layout)},
        {"instances", request.instances},
        {"weights_seed", request.weights_seed},
        {"ternary", request.ternary}},
       bytes, 0, seconds);
}

void WorkerProcess::inputs(Family family, uint64_t seed, const std::vector<InputRange>& ranges, double seconds) {
  Json list = Json::array();
  for (const InputRange& r : ranges) list.push_back({r.lo, r.hi});
  call({{"op", "inputs"}, {"family", static_cast<int>(family)}, {"seed", seed}, {"ranges", list}}, {}, 0, seconds);
}

TrialReply WorkerProcess::trial(int instance, uint64_t poison, size_t output_bytes, double seconds) {
  Frame reply = call({{"op", "trial"}, {"instance", instance}, {"poison", poison}}, {}, output_bytes, seconds);
  if (reply.payload.size() != output_bytes) die(IoStatus::kGarbage, seconds);
  TrialReply result;
  result.outputs = std::move(reply.payload);
  result.damaged = reply.header.value("damaged", "");
  result.float_control_changed =
      reply.header.value("float_control", 0u) != reply.header.value("float_control_at_start", 1u);
  return result;
}

double WorkerProcess::run(int calls, double seconds) {
  const auto start = Clock::now();
  call({{"op", "run"}, {"n", calls}}, {}, 0, seconds);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<double> WorkerProcess::steps(int runs, double seconds) {
  return call({{"op", "steps"}, {"n", runs}}, {}, 0, seconds).header.at("seconds").get<std::vector<double>>();
}

ProcessState WorkerProcess::state() const {
  ProcessState s;
  const auto count = [](const std::string& folder) {
    std::error_code error;
    int n = 0;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) ++n;
    return n;
  };
  const std::string proc = fmt::format("/proc/{}/", pid_);
  s.threads = count(proc + "task");
  s.descriptors = count(proc + "fd");
  std::ifstream status(proc + "status");
  for (std::string key; status >> key;) {
    if (key == "SigCgt:") status >> std::hex >> s.caught_signals >> std::dec;
    else if (key == "nonvoluntary_ctxt_switches:") status >> s.involuntary_switches;
    else if (key == "VmHWM:") status >> s.peak_bytes, s.peak_bytes *= 1024;
    std::getline(status, key);
  }
  s.caught_signals &= ~(uint64_t{3} << 31);  // 32 and 33 are glibc's own, set when the first thread starts
  return s;
}

}  // namespace amdahl

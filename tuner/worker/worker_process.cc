#include "tuner/worker/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "base/entropy.h"
#include "base/error.h"
#include "base/process_limits.h"
#include "tuner/worker/descriptors.h"
#include "tuner/worker/spawn_worker.h"

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
    if (std::strncmp(*e, "OMP_", 4) != 0 && std::strncmp(*e, "GOMP_", 5) != 0 && std::strncmp(*e, "LD_PRELOAD", 10) != 0) env.emplace_back(*e);
  env.push_back(fmt::format("OMP_NUM_THREADS={}", options.threads));
  env.push_back("OMP_PROC_BIND=true");
  env.push_back("OMP_PLACES=cores");
  env.push_back("OMP_DYNAMIC=false");
  env.push_back("GOMP_SPINCOUNT=20000");
  env.push_back("AMDAHL_PAD=" + std::string(options.layout_seed % 4096, 'x'));
  return env;
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) throw machine_refuses("make a pipe", errno);
    read = fds[0];
    write = fds[1];
  }
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
};

// A descriptor that the machine gave, closed at the end.
class Descriptor {
 public:
  Descriptor(const char* what, int fd) : fd_(fd) {
    if (fd_ < 0) throw machine_refuses(what, errno);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string signal_text(int number) {
  const char* name = sigabbrev_np(number);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerOptions& options, const Arena& inputs, int constants_fd)
    : options_(options), output_arena_(options.backend->make_arena("amdahl-outputs")), nonces_(entropy()) {
  // Expected outputs and seeds are in this process: nobody but root may look into it.
  prctl(PR_SET_DUMPABLE, 0);
  Pipe request, reply;
  Descriptor words("make a file in memory", memfd_create("worker-stderr", MFD_CLOEXEC));
  std::vector<std::string> argv{options_.backend->worker_program(), "--backend", std::string(options_.backend->name()), "--memory",
                                std::to_string(options_.memory_bytes)};
  std::vector<std::string> env = worker_environment(options_);
  for (const std::string& variable : options_.backend->environment()) env.push_back(variable);

  std::vector<std::pair<int, int>> descriptors = {
      {request.read, 0}, {reply.write, 1}, {words.get(), 2}, {inputs.read_only(), kInputsDescriptor}, {output_arena_->writable(), kOutputsDescriptor}};
  if (constants_fd >= 0) descriptors.emplace_back(constants_fd, kConstantsDescriptor);
  pid_ = spawn_worker({argv, env, descriptors, options_.backend->candidates_run_on_host()});
  if (pid_ < 0) throw machine_refuses(fmt::format("start {}", argv[0]), errno);
  to_ = std::exchange(request.write, -1);
  from_ = std::exchange(reply.read, -1);
  stderr_ = words.release();
  fcntl(to_, F_SETFL, O_NONBLOCK);
  fcntl(from_, F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    kill_group();
    if (!exit_status_) waitpid(pid_, nullptr, 0);
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

// Its own, or the one that this program was started under where that is less.
std::string WorkerProcess::memory_limit_reached() const {
  rlimit inherited{};
  const auto own = static_cast<rlim_t>(options_.memory_bytes);
  if (getrlimit(RLIMIT_AS, &inherited) == 0 && inherited.rlim_cur < own)
    return fmt::format("memory limit of {} MiB reached, under which this program was started (ulimit -v)", inherited.rlim_cur >> 20);
  return fmt::format("memory limit of {} MiB reached", own >> 20);
}

void WorkerProcess::die(IoStatus status, double seconds, std::optional<WorkerExit> known) {
  if (status == IoStatus::kStopped) throw Stopped{};
  WorkerExit death;
  if (status == IoStatus::kTimeout || status == IoStatus::kGarbage) kill_group();
  int how = 0;
  if (exit_status_) how = *exit_status_;
  else waitpid(pid_, &how, 0);
  kill_group();  // what the worker may have left behind
  pid_ = -1;
  exit_status_.reset();
  if (known) throw WorkerDied(*known);
  const std::string words = last_words();
  const std::string tail = words.empty() ? "" : ": " + words;
  const bool memory = words.find("out of memory") != std::string::npos || words.find("bad_alloc") != std::string::npos ||
                      words.find("Thread creation failed") != std::string::npos;
  if (status == IoStatus::kTimeout) {
    death = {WorkerExit::Kind::kTimeout, fmt::format("no answer within {:.3g} s, killed", seconds)};
  } else if (status == IoStatus::kGarbage) {
    death = {WorkerExit::Kind::kGarbage, "answered with bytes that are no reply"};
  } else if (WIFSIGNALED(how) && WTERMSIG(how) == SIGSYS) {
    death = {WorkerExit::Kind::kForbidden,
             "SIGSYS: made a system call that kernels may not make: they need memory and threads of their own, nothing else of the system"};
  } else if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL) {  // the watchdog's was a time-out
    death = {WorkerExit::Kind::kKilled, "SIGKILL from outside: somebody killed it, or the kernel did because memory ran out"};
  } else if (memory) {
    death = {WorkerExit::Kind::kMemory, memory_limit_reached() + tail};
  } else if (WIFSIGNALED(how)) {
    WorkerExit::Kind kind = WorkerExit::Kind::kSignal;
    if (words.find("read-only") != std::string::npos) kind = WorkerExit::Kind::kReadOnly;
    else if (words.find("past the end of") != std::string::npos || words.find("before the start of") != std::string::npos)
      kind = WorkerExit::Kind::kOutOfBounds;
    death = {kind, signal_text(WTERMSIG(how)) + tail};
  } else if (words.starts_with("SIG")) {  // the worker's own word for abort()
    death = {WorkerExit::Kind::kSignal, words};
  } else {
    death = {WorkerExit::Kind::kExit, fmt::format("exited with status {} before it answered{}", WEXITSTATUS(how), tail)};
  }
  throw WorkerDied(death);
}

void WorkerProcess::resume() {
  if (stopped_) kill(-pid_, SIGCONT);
  stopped_ = false;
  ++awakenings_;
}

// Returns when all its threads stand still.
void WorkerProcess::stop() {
  kill(-pid_, SIGSTOP);
  int how = 0;
  while (waitpid(pid_, &how, WUNTRACED) < 0 && errno == EINTR) {
  }
  stopped_ = WIFSTOPPED(how);
  if (!stopped_) exit_status_ = how;
}

double WorkerProcess::cpu_seconds() const {
  clockid_t clock;
  timespec t{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Teams spin for some 50 us before they sleep; on a busy machine they wait for a processor first.
void WorkerProcess::come_to_rest() {
  constexpr double kLook = 200e-6, kRest = 20e-6, kPatience = 0.2;  // seconds
  double used = cpu_seconds();
  for (const auto start = Clock::now(); std::chrono::duration<double>(Clock::now() - start).count() < kPatience;) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kLook));
    const double now = cpu_seconds();
    if (now - used < kRest) return;
    used = now;
  }
  kill_group();
  die(IoStatus::kClosed, kPatience,
      WorkerExit{WorkerExit::Kind::kStillWorking, fmt::format("used processor time for {:.1f} s after it had returned", kPatience)});
}

Json WorkerProcess::call(Json request, double seconds, RunTime* time, bool settle) {
  if (pid_ < 0) throw WorkerDied({WorkerExit::Kind::kExit, "the worker is gone"});
  const uint64_t nonce = nonces_.next() >> 1;
  request["nonce"] = nonce;
  Channel channel(from_, to_);
  Frame reply;
  resume();
  const auto awake = Clock::now();
  const double cpu_before = time ? cpu_seconds() : 0;
  const auto start = Clock::now();
  IoStatus status = channel.send(request, {}, seconds, options_.stop);
  if (status == IoStatus::kOk) status = channel.receive(reply, 0, seconds, options_.stop);
  const auto end = Clock::now();
  if (status == IoStatus::kOk && reply.header.value("nonce", uint64_t{0}) != nonce) status = IoStatus::kGarbage;
  if (status != IoStatus::kOk) die(status, seconds);
  if (settle) come_to_rest();
  stop();
  if (exit_status_) die(IoStatus::kClosed, seconds);
  if (time) {
    const std::chrono::duration<double> counted = Clock::now() - awake, run = end - start;
    *time = {run.count(), (counted - run).count(), cpu_seconds() - cpu_before};
  }
  if (const auto error = reply.header.find("error"); error != reply.header.end()) {
    const std::string text = error->is_string() ? error->get<std::string>() : "unreadable error";
    if (reply.header.value("memory", false)) throw WorkerDied({WorkerExit::Kind::kMemory, memory_limit_reached()});
    throw WorkerRefused(text);
  }
  return std::move(reply.header);
}

void WorkerProcess::load(const std::vector<std::string>& libraries, double seconds) {
  enter(libraries, seconds);
  call({{"op", "load"}, {"libraries", libraries}, {"clock", options_.clock}}, seconds);
}

// No candidate's code has run yet: whatever goes wrong is the machine's doing.
void WorkerProcess::enter(const std::vector<std::string>& libraries, double seconds) {
  const auto refuse = [](const std::string& why) {
    throw Error(ExitCode::kIo,
                fmt::format("a worker cannot start: {}; is there too little memory, or are there too many processes or threads (ulimit -u) or open "
                            "files (ulimit -n)?",
                            why));
  };
  try {
    call({{"op", "enter"}, {"libraries", libraries}}, seconds);
  } catch (const WorkerRefused& refused) {
    refuse(refused.what());
  } catch (const WorkerDied& died) {
    if (died.death.kind == WorkerExit::Kind::kKilled) throw;
    refuse(died.death.reason);
  }
}

void WorkerProcess::make_outputs(const Program& program, Layout layout, size_t slots) {
  output_arena_->clear();
  outputs_.assign(slots, {});
  for (size_t slot = 0; slot < slots; ++slot) {
    std::vector<Region>& regions = outputs_[slot].regions;
    std::set<int> named;
    for (int number : program.outputs) {
      const Program::Buffer& b = program.buffers[static_cast<size_t>(number)];
      const bool ours = b.role == Program::Role::kOutput && named.insert(number).second;
      regions.push_back(ours ? output_arena_->allocate(b.bytes, size_of(b.dtype), layout) : Region{});
      if (ours) fill_slack(regions.back().data, regions.back().bytes, kOutputSlack);
    }
    publish_outputs(slot);
  }
}

const std::vector<Region>& WorkerProcess::outputs(size_t slot) {
  Outputs& outputs = outputs_[slot];
  if (std::exchange(outputs.as_of, awakenings_) != awakenings_)
    for (const Region& r : outputs.regions)
      if (r.at >= 0) output_arena_->fetch(r);
  return outputs.regions;
}

void WorkerProcess::publish_outputs(size_t slot) {
  for (const Region& r : outputs_[slot].regions)
    if (r.at >= 0) output_arena_->publish(r);
}

void WorkerProcess::bind(const Program& program, Layout layout, const std::vector<std::vector<Region>>& inputs, const std::vector<std::vector<Region>>& weights,
                         double seconds, bool twin) {
  make_outputs(program, layout, inputs.size());
  const auto offsets = [](const std::vector<std::vector<Region>>& regions) {
    Json rows = Json::array();
    for (const auto& row : regions) {
      Json list = Json::array();
      for (const Region& r : row) list.push_back(r.at);
      rows.push_back(std::move(list));
    }
    return rows;
  };
  std::vector<std::vector<Region>> output_regions;
  for (const Outputs& slot : outputs_) output_regions.push_back(slot.regions);
  call({{"op", "bind"},
        {"program", program},
        {"layout", static_cast<int>(layout)},
        {"twin", twin},
        {"displace", nonces_.next() >> 1},
        {"inputs", offsets(inputs)},
        {"outputs", offsets(output_regions)},
        {"weights", offsets(weights)}},
       seconds);
}

void WorkerProcess::repack(double seconds) { call({{"op", "repack"}}, seconds); }

void WorkerProcess::wake(uint64_t scribble, double seconds) { call({{"op", "ready"}, {"scribble", scribble}}, seconds); }

RunTime WorkerProcess::run(int first, int count, int times, double seconds) {
  RunTime time;
  const Json reply = call({{"op", "run"}, {"first", first}, {"count", count}, {"times", times}}, seconds, &time);
  if (options_.backend->candidates_run_on_host()) return time;
  const double on_device = reply.at("seconds");
  return {on_device, 0, on_device};
}

std::vector<uint64_t> WorkerProcess::trial(const Trial& t, double seconds) {
  const Json reply = call({{"op", "trial"}, {"slot", t.slot}, {"scribble", t.seed}, {"seed", t.seed}, {"team", t.team}, {"nested", t.nested}}, seconds, nullptr,
                          /*settle=*/true);
  const auto digests = reply.find("digests");
  if (digests == reply.end() || !digests->is_array() || digests->size() != outputs_.at(0).regions.size()) die(IoStatus::kGarbage, seconds);
  return digests->get<std::vector<uint64_t>>();
}

bool WorkerProcess::run_both(int times, double seconds) {
  cpu_set_t mine;
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mine)) processors.push_back(cpu);
  const Json reply = call({{"op", "both"}, {"times", times}, {"processors", processors}}, seconds, nullptr, /*settle=*/true);
  const auto differs = reply.find("differs");
  return differs != reply.end() && differs->is_boolean() && !differs->get<bool>();
}

double WorkerProcess::handover(double seconds) {
  double least = HUGE_VAL;
  for (int i = 0; i < 5; ++i) least = std::min(least, run_awake(0, 0, 1, seconds).seconds);
  return least;
}

Report WorkerProcess::report(double seconds) {
  const Json r = call({{"op", "report"}}, seconds);
  const auto says = [&](const char* what) {
    const auto it = r.find(what);
    return it == r.end() || !it->is_boolean() || it->get<bool>();
  };
  return {says("damaged"), says("float_control_changed"), says("handlers_changed")};
}

std::vector<double> WorkerProcess::steps(int runs, double seconds) {
  return call({{"op", "steps"}, {"n", runs}}, seconds).at("seconds").get<std::vector<double>>();
}

// A thread that begins or ends blocks all that glibc may block: not 9, 19, nor its own 32 and 33. A team that shrinks ends threads.
constexpr uint64_t kAllSignals = ~(uint64_t{1} << (SIGKILL - 1) | uint64_t{1} << (SIGSTOP - 1) | uint64_t{3} << 31);

// Of threads that neither begin nor end, which on a busy machine takes them some turns of a processor.
ProcessState WorkerProcess::state() {
  if (!options_.backend->candidates_run_on_host()) return {};  // threads and memory are this program's and the driver's
  constexpr auto kLook = std::chrono::milliseconds(2), kPatience = std::chrono::milliseconds(500);
  for (const auto start = Clock::now();;) {
    bool restless = false;
    ProcessState s = state_now(&restless);
    if (!restless || exit_status_ || Clock::now() - start > kPatience) return s;
    resume();
    std::this_thread::sleep_for(kLook);
    stop();
  }
}

ProcessState WorkerProcess::state_now(bool* restless) const {
  ProcessState s;
  const std::string proc = fmt::format("/proc/{}/", pid_);
  const auto names_in = [](const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) names.push_back(it->path().filename());
    return names;
  };
  const std::vector<std::string> threads = names_in(proc + "task");
  s.threads = static_cast<int>(threads.size());
  s.descriptors = static_cast<int>(names_in(proc + "fd").size());
  for (const std::string& thread : threads) {
    std::ifstream status(proc + "task/" + thread + "/status");
    uint64_t blocked = 0;
    for (std::string key, value; status >> key;) {
      if (key == "Cpus_allowed_list:") status >> value, s.affinities.insert(value);
      else if (key == "SigBlk:") status >> std::hex >> blocked >> std::dec, s.blocked_signals |= blocked;
      std::getline(status, key);
    }
    *restless |= (blocked & kAllSignals) == kAllSignals;
  }
  std::ifstream status(proc + "status");
  for (std::string key; status >> key;) {
    if (key == "SigCgt:") status >> std::hex >> s.caught_signals >> std::dec;
    else if (key == "SigIgn:") status >> std::hex >> s.ignored_signals >> std::dec;
    else if (key == "RssAnon:") status >> s.resident_bytes, s.resident_bytes *= 1024;
    std::getline(status, key);
  }
  // The channel blocks it while it writes a reply, and the worker may have been stopped before it was unblocked.
  s.blocked_signals &= ~(uint64_t{1} << (SIGPIPE - 1));
  s.caught_signals &= ~(uint64_t{3} << 31);  // 32 and 33 are glibc's own, set when the first thread starts
  return s;
}

void WorkerProcess::pin_to_one_cpu(bool pinned) {
  cpu_set_t mine, one;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mine)) {
      CPU_SET(cpu, &one);
      break;
    }
  std::error_code error;
  for (fs::directory_iterator it(fmt::format("/proc/{}/task", pid_), error), end; !error && it != end; it.increment(error)) {
    const pid_t thread = std::atoi(it->path().filename().c_str());
    if (pinned) {
      cpu_set_t was;
      if (sched_getaffinity(thread, sizeof was, &was) == 0) born_with_.try_emplace(thread, was);
      sched_setaffinity(thread, sizeof one, &one);
    } else if (const auto born = born_with_.find(thread); born != born_with_.end()) {
      sched_setaffinity(thread, sizeof born->second, &born->second);
    }
  }
}

}  // namespace amdahl

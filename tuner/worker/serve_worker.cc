#include "tuner/worker/serve_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <thread>

#include "base/error.h"
#include "tuner/worker/bound_program.h"
#include "tuner/worker/caller_state.h"
#include "tuner/worker/protocol.h"

namespace amdahl {
namespace {

constexpr int kFaulted = 139;  // as a shell shows a SIGSEGV

class Worker {
 public:
  Worker(Channel channel, WorkerDevice& device, Confinement& confinement)
      : channel_(channel), device_(device), confinement_(confinement), control_at_start_(float_control_word()) {}

  int serve() {
    for (;;) {
      Frame request;
      if (channel_.receive(request, 0) != IoStatus::kOk) return 0;  // the supervisor is gone
      Json reply;
      try {
        reply = answer(request.header);
      } catch (const DeviceFault& fault) {
        // As a signal handler says of a fault on the processor. The device is of no use to this process any more.
        fmt::print(stderr, "\nfault: SIGSEGV: the card stopped: {}\n", fault.what());
        std::fflush(stderr);
        _exit(kFaulted);
      } catch (const std::bad_alloc&) {
        reply = Json{{"error", "out of memory"}, {"memory", true}};
      } catch (const std::exception& e) {
        reply = Json{{"error", e.what()}};
      }
      reply["nonce"] = request.header.value("nonce", uint64_t{0});
      if (channel_.send(reply, {}) != IoStatus::kOk) return 0;
    }
  }

 private:
  Json answer(const Json& r) {
    const std::string op = r.at("op");
    if (op == "enter") return enter(r);
    if (op == "load") return load(r);
    if (op == "bind") return bind(r);
    if (!bound_program_) throw Error(ExitCode::kInternal, "nothing is bound");
    if (op == "run") {
      const std::optional<double> seconds = bound_program_->run(r.at("first"), r.at("count"), r.at("times"));
      return seconds ? Json{{"seconds", *seconds}} : Json::object();
    }
    if (op == "ready") {
      bound_program_->scribble_lines_of_workspace(r.at("scribble"));
      wake_threads();
      return Json::object();
    }
    if (op == "trial") return trial(r);
    if (op == "both") return both(r);
    if (op == "repack") {
      bound_program_->repack();
      return Json::object();
    }
    if (op == "report") return report();
    if (op == "steps") return steps(r);
    throw Error(ExitCode::kInternal, "unknown request " + op);
  }

  Json enter(const Json& r) {
    const auto libraries = r.at("libraries").get<std::vector<std::string>>();
    confinement_.enter(libraries);
    begin_one_thread();
    wake_threads();  // created here, with the affinity that OpenMP gives them, rather than in a candidate's first call
    handlers_ = signal_handlers();
    for (const std::string& library : libraries) device_.require_loadable(library);
    return Json::object();
  }

  Json load(const Json& r) {
    const auto libraries = r.at("libraries").get<std::vector<std::string>>();
    for (const std::string& library : libraries) device_.keep_loaded(library);
    confinement_.seal(channel_.in(), channel_.out(), r.value("clock", false));
    return Json::object();
  }

  Json bind(const Json& r) {
    bound_program_.reset();
    twin_.reset();
    device_.displace(r.at("displace"));
    const Program program = r.at("program").get<Program>();
    Places places;
    places.inputs = r.at("inputs");
    places.outputs = r.at("outputs");
    places.weights = r.at("weights");
    const auto layout = static_cast<Layout>(r.at("layout").get<int>());
    bound_program_ = std::make_unique<BoundProgram>(program, device_, layout, places);
    if (r.value("twin", false)) twin_ = std::make_unique<BoundProgram>(program, device_, layout, places);
    bound_program_->discard_packed_constants();
    return Json::object();
  }

  static void touch_malloc() {
    void* volatile touched = std::malloc(64);  // its first look at the number of processors opens a file
    std::free(touched);
  }
  void wake_threads() { device_.on_kernel_threads(touch_malloc); }
  // A process's first thread sets a signal handler of glibc's: where a team is one thread, that would be in a candidate's call of a larger one.
  static void begin_one_thread() { std::thread(touch_malloc).join(); }

  // A caller of an exported kernel may have set another team size, or call from a parallel region of its own, where OpenMP gives a team of one.
  Json trial(const Json& r) {
    const int slot = r.at("slot"), team = r.at("team"), as_asked = omp_get_max_threads();
    const uint64_t seed = r.at("seed");
    bound_program_->scribble(r.at("scribble"));
    if (team > 0) omp_set_num_threads(team);
    if (r.at("nested")) {
#pragma omp parallel num_threads(2)
#pragma omp master
      bound_program_->run(slot, 1, 1);
    } else {
      bound_program_->run(slot, 1, 1);
    }
    const std::vector<uint64_t> digests = bound_program_->digests(static_cast<size_t>(slot), seed);
    omp_set_num_threads(as_asked);
    return {{"digests", digests}};
  }

  Json both(const Json& r) {
    if (!twin_) throw Error(ExitCode::kInternal, "there is one instance only");
    const int slots = bound_program_->slots(), times = r.at("times");
    std::barrier both_are_here(2);
    std::atomic<bool> differs = false;
    const auto every_second = [&](BoundProgram& bound_program, int first) {
      std::vector<std::vector<uint64_t>> before(static_cast<size_t>(slots));
      both_are_here.arrive_and_wait();
      for (int t = 0; t < times; ++t)
        for (int slot = first; slot < slots; slot += 2) {
          bound_program.run(slot, 1, 1);
          std::vector<uint64_t> digests = bound_program.digests(static_cast<size_t>(slot), 0);
          if (t > 0 && digests != before[static_cast<size_t>(slot)]) differs = true;
          before[static_cast<size_t>(slot)] = std::move(digests);
        }
    };
    const std::function<void()> odd = [&] { every_second(*twin_, 1); };
    const pthread_t other = start_on(r.at("processors").get<std::vector<int>>(), odd);
    every_second(*bound_program_, 0);
    pthread_join(other, nullptr);
    return {{"differs", differs.load()}};
  }

  // A thread is born where its parent is bound, and two on one processor hardly meet.
  static pthread_t start_on(const std::vector<int>& processors, const std::function<void()>& body) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu : processors) CPU_SET(cpu, &set);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    pthread_t thread;
    const auto run = [](void* body) -> void* {
      (*static_cast<const std::function<void()>*>(body))();
      return nullptr;
    };
    const int error = pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body));
    pthread_attr_destroy(&attributes);
    if (error != 0) throw std::bad_alloc();
    return thread;
  }

  Json report() const {
    std::atomic<bool> changed = float_control_word() != control_at_start_;  // here libraries are loaded
    device_.on_kernel_threads([&] {
      if (float_control_word() != control_at_start_) changed = true;
    });
    return {{"damaged", bound_program_->damaged() || (twin_ && twin_->damaged())},
            {"float_control_changed", changed.load()},
            {"handlers_changed", signal_handlers() != handlers_}};
  }

  Json steps(const Json& r) {
    std::vector<double> seconds;
    for (int i = 0, n = r.at("n"); i < n; ++i) bound_program_->run_timed(seconds);
    return {{"seconds", seconds}};
  }

  Channel channel_;
  WorkerDevice& device_;
  Confinement& confinement_;
  uint64_t control_at_start_;
  SignalHandlers handlers_{};
  std::unique_ptr<BoundProgram> bound_program_, twin_;
};

// The conversation moves to descriptors nobody else uses; prints go to stderr, reads of stdin end at once.
Channel take_stdio() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const auto room = static_cast<int64_t>(std::min<rlim_t>(files.rlim_cur, 1024)) - 64 - 16;
  if (room < 1) throw Error(ExitCode::kIo, fmt::format("only {} files may be open: ulimit -n 1024 raises that", files.rlim_cur));
  const int base = 64 + static_cast<int>(std::random_device{}() % std::min<int64_t>(room, 512));
  const int in = fcntl(0, F_DUPFD_CLOEXEC, base), out = fcntl(1, F_DUPFD_CLOEXEC, base + 7);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || out < 0 || null < 0) throw Error(ExitCode::kIo, "cannot move the worker's stdin and stdout");
  dup2(null, 0);
  dup2(2, 1);
  close(null);
  return Channel(in, out);
}

// The value that follows `name` among the arguments, or `otherwise`.
const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  return otherwise;
}

const WorkerBackend& backend_of(std::string_view name, const std::vector<const WorkerBackend*>& backends) {
  for (const WorkerBackend* b : backends)
    if (b->name() == name) return *b;
  throw Error(ExitCode::kUsage, fmt::format("no backend '{}' here: say --backend NAME", name));
}

}  // namespace

int serve_worker(int argc, char** argv, const std::vector<const WorkerBackend*>& backends) {
  try {
    const WorkerBackend& backend = backend_of(option(argc, argv, "--backend", ""), backends);
    const std::unique_ptr<WorkerDevice> device = backend.make_device();
    const std::unique_ptr<Confinement> confinement = backend.make_confinement();
    confinement->limit(std::atoll(option(argc, argv, "--memory", "0")));
    // What a kernel prints must ask the system for nothing but to be written.
    static char printed[4096];
    std::setvbuf(stdout, printed, _IOLBF, sizeof printed);
    // Ties OpenMP's runtime to this program: were it unloaded with a candidate's library, its waiting threads would wake
    // up in unmapped code.
    if (omp_get_max_threads() < 1) return 1;
    Worker worker(take_stdio(), *device, *confinement);
    const int status = worker.serve();
    _exit(status);  // destructors of candidates' libraries have nothing left to say
  } catch (const std::exception& e) {
    fmt::print(stderr, "amdahl-worker: {}\n", e.what());
    return 1;
  }
}

}  // namespace amdahl

// amdahl-worker: loads candidates' code and runs it on request. It holds neither the clock, nor seeds, nor expected outputs,
// nor the verdict. What it answers is either checked by the supervisor or only a diagnostic: the outputs themselves lie in
// memory that the supervisor reads after it has stopped this process.
//
//   amdahl-worker [--memory BYTES]       speaks tuner/protocol.h over stdin and stdout; descriptors as in tuner/rig.h
//
// Requests, each answered by {nonce, …} or {nonce, "error": text}:
//   load    libraries: their constructors run; after it nothing can be opened any more
//   bind    program, layout, places      maps operands, packs constants
//   repack                               packs constants again
//   ready                                nothing: wakes the threads
//   run     first, count, times          -> nothing: the supervisor's clock is running
//   report                               -> damaged; float_control_changed, on any thread, and handlers_changed, since before a library was loaded
//   steps   n                            -> seconds: by call, summed over n runs

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "base/amx.h"
#include "base/error.h"
#include "tuner/huge_file.h"
#include "tuner/protocol.h"
#include "tuner/rig.h"
#include "tuner/sandbox.h"

namespace amdahl {
namespace {

class Worker {
 public:
  explicit Worker(Channel channel) : channel_(channel), control_at_start_(float_control_word()) {}

  int serve() {
    for (;;) {
      Frame request;
      if (channel_.receive(request, 0) != IoStatus::kOk) return 0;  // the supervisor is gone
      Json reply;
      try {
        reply = answer(request.header);
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
    if (op == "load") return load(r);
    if (op == "bind") return bind(r);
    if (!rig_) throw Error(ExitCode::kInternal, "nothing is bound");
    if (op == "run") {
      rig_->run(r.at("first"), r.at("count"), r.at("times"));
      return Json::object();
    }
    if (op == "ready") {
      wake_threads();
      return Json::object();
    }
    if (op == "repack") {
      rig_->repack();
      return Json::object();
    }
    if (op == "report") return report();
    if (op == "steps") return steps(r);
    throw Error(ExitCode::kInternal, "unknown request " + op);
  }

  Json load(const Json& r) {
    const auto libraries = r.at("libraries").get<std::vector<std::string>>();
    enter_sandbox(libraries);
    wake_threads();  // created here, with the affinity that OpenMP gives them, rather than in a candidate's first call
    handlers_ = signal_handlers();
    // Never unloaded: threads that a candidate leaves behind must be found, not crash in unmapped code.
    for (const std::string& library : libraries)
      if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
        throw Error(ExitCode::kInternal, fmt::format("cannot load {}: {}", library, dlerror()));
    forbid_opening();
    return Json::object();
  }

  Json bind(const Json& r) {
    rig_.reset();
    const Program program = r.at("program").get<Program>();
    const std::byte* constants = program.blob_bytes > 0 ? map_constants(program.blob_bytes) : nullptr;
    Places places;
    places.inputs = r.at("inputs");
    places.outputs = r.at("outputs");
    places.weights = r.at("weights");
    rig_ = std::make_unique<Rig>(program, constants, static_cast<Layout>(r.at("layout").get<int>()), places);
    // Packed constants are copies: what they were packed from need not stay resident.
    for (const auto& [offset, bytes] : rig_->executor().unused_blob_ranges()) release(constants + offset, bytes);
    return Json::object();
  }

  const std::byte* map_constants(size_t bytes) {
    if (bytes > mapped_bytes_) {
      const FileMapping m = map_on_huge_pages(kConstantsDescriptor, 0, up_to_huge_page(bytes), PROT_READ);
      if (!m.first) throw std::bad_alloc();
      if (mapped_.first) munmap(mapped_.reserved, mapped_.span);
      mapped_ = m;
      mapped_bytes_ = up_to_huge_page(bytes);
    }
    return mapped_.first;
  }

  static void release(const std::byte* data, int64_t bytes) {
    const auto first = (reinterpret_cast<uintptr_t>(data) + 4095) / 4096 * 4096;
    const auto end = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)) / 4096 * 4096;
    if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }

  static void wake_threads() {
#pragma omp parallel
    {
      void* volatile touched = std::malloc(64);  // malloc's first look at the number of processors opens a file
      std::free(touched);
    }
  }

  Json report() const {
    uint64_t changed = 0;
#pragma omp parallel reduction(| : changed)
    changed |= float_control_word() ^ control_at_start_;
    return {{"damaged", rig_->damaged()},
            {"float_control_changed", changed != 0},
            {"handlers_changed", signal_handlers() != handlers_}};
  }

  Json steps(const Json& r) {
    std::vector<double> seconds;
    for (int i = 0, n = r.at("n"); i < n; ++i) rig_->run_timed(seconds);
    return {{"seconds", seconds}};
  }

  Channel channel_;
  uint64_t control_at_start_;
  SignalHandlers handlers_{};
  FileMapping mapped_;
  size_t mapped_bytes_ = 0;
  std::unique_ptr<Rig> rig_;
};

// The conversation moves to descriptors nobody else uses; prints go to stderr, reads of stdin end at once.
Channel take_stdio() {
  const int base = 64 + static_cast<int>(std::random_device{}() % 512);
  const int in = fcntl(0, F_DUPFD_CLOEXEC, base), out = fcntl(1, F_DUPFD_CLOEXEC, base + 7);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || out < 0 || null < 0) throw Error(ExitCode::kIo, "cannot move the worker's stdin and stdout");
  dup2(null, 0);
  dup2(2, 1);
  close(null);
  return Channel(in, out);
}

}  // namespace
}  // namespace amdahl

int main(int argc, char** argv) {
  int64_t memory = 0;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--memory") == 0) memory = std::atoll(argv[i + 1]);
  try {
    amdahl::allow_amx();  // a kernel may not ask
    amdahl::limit_process(memory);
    // Ties OpenMP's runtime to this program: were it unloaded with a candidate's library, its waiting threads would wake
    // up in unmapped code.
    if (omp_get_max_threads() < 1) return 1;
    amdahl::Worker worker(amdahl::take_stdio());
    const int status = worker.serve();
    _exit(status);  // destructors of candidates' libraries have nothing left to say
  } catch (const std::exception& e) {
    fmt::print(stderr, "amdahl-worker: {}\n", e.what());
    return 1;
  }
}

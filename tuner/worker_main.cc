// amdahl-worker: loads candidates' code and runs it on request. It holds neither the clock, nor the expected outputs, nor
// the verdict; what it reports is either checked by the supervisor or only a diagnostic.
//
//   amdahl-worker [--memory BYTES]       speaks tuner/protocol.h over stdin and stdout
//
// Requests, each answered by {nonce, …} or {nonce, "error": text}:
//   load    program, layout, instances, weights_seed, ternary, blob: "none" | "payload" | "fd" (descriptor 3)
//   inputs  family, seed, ranges: [[lo, hi], …]
//   trial   instance, poison            -> payload: the outputs of one call into poisoned memory; damaged, float_control
//                                          at_start and now (a library may change it when it is loaded)
//   run     n                           -> nothing: the supervisor's clock is running
//   steps   n                           -> seconds: by call, summed over n runs

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

#include "base/error.h"
#include "tuner/protocol.h"
#include "tuner/rig.h"
#include "tuner/sandbox.h"

namespace amdahl {
namespace {

constexpr int kBlobDescriptor = 3;
constexpr size_t kMaxRequest = size_t{8} << 30;

class Worker {
 public:
  explicit Worker(Channel channel) : channel_(channel), control_at_start_(float_control_word()) {}

  int serve() {
    for (;;) {
      Frame request;
      if (channel_.receive(request, kMaxRequest) != IoStatus::kOk) return 0;  // the supervisor is gone
      payload_.clear();
      Json reply;
      try {
        reply = answer(request);
      } catch (const std::bad_alloc&) {
        reply = Json{{"error", "out of memory"}, {"memory", true}};
      } catch (const std::exception& e) {
        reply = Json{{"error", e.what()}};
      }
      reply["nonce"] = request.header.value("nonce", uint64_t{0});
      if (channel_.send(reply, payload_) != IoStatus::kOk) return 0;
    }
  }

 private:
  Json answer(Frame& request) {
    const Json& r = request.header;
    const std::string op = r.at("op");
    if (op == "load") return load(r, std::move(request.payload));
    if (!rig_) throw Error(ExitCode::kInternal, "nothing is loaded");
    if (op == "run") {
      rig_->run(r.at("n"));
      return Json::object();
    }
    if (op == "inputs") return inputs(r);
    if (op == "trial") return trial(r);
    if (op == "steps") return steps(r);
    throw Error(ExitCode::kInternal, "unknown request " + op);
  }

  Json load(const Json& r, std::vector<std::byte> payload) {
    rig_.reset();
    const Program program = r.at("program").get<Program>();
    const std::string where = r.at("blob");
    const std::byte* blob = nullptr;
    if (where == "payload") {
      if (payload.size() != program.blob_bytes) throw Error(ExitCode::kInternal, "blob of the wrong size");
      held_blob_ = std::make_unique<GuardedMemory>("constants", payload.size(), 64, Layout::kModel);
      std::memcpy(held_blob_->data(), payload.data(), payload.size());
      held_blob_->set_writable(false);
      blob = held_blob_->data();
    } else if (where == "fd") {
      blob = map_blob(program.blob_bytes);
    }
    // Never unloaded: threads that a candidate leaves behind must be found, not crash in unmapped code.
    for (const std::string& library : program.libraries) dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    RigOptions options;
    options.layout = static_cast<Layout>(r.at("layout").get<int>());
    options.instances = r.at("instances");
    options.weights_seed = r.at("weights_seed");
    options.ternary_weights = r.at("ternary");
    rig_ = std::make_unique<Rig>(program, blob, options);
    // Packed constants are copies: what they were packed from need not stay resident.
    if (where == "fd")
      for (const auto& [offset, bytes] : rig_->executor().unused_blob_ranges()) release(blob + offset, bytes);
    return Json::object();
  }

  const std::byte* map_blob(size_t bytes) {
    if (!mapped_) {
      void* p = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, kBlobDescriptor, 0);
      if (p == MAP_FAILED) throw std::bad_alloc();
      mapped_ = static_cast<const std::byte*>(p);
    }
    return mapped_;
  }

  static void release(const std::byte* data, int64_t bytes) {
    const auto first = (reinterpret_cast<uintptr_t>(data) + 4095) / 4096 * 4096;
    const auto end = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)) / 4096 * 4096;
    if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }

  Json inputs(const Json& r) {
    std::vector<InputRange> ranges;
    for (const Json& range : r.at("ranges")) ranges.push_back({range.at(0), range.at(1)});
    rig_->fill_inputs(static_cast<Family>(r.at("family").get<int>()), r.at("seed"), ranges);
    return Json::object();
  }

  Json trial(const Json& r) {
    rig_->poison_outputs(r.at("poison"));
    rig_->run_instance(r.at("instance"));
    const uint32_t after = float_control_word();
    payload_ = rig_->outputs();
    return {{"damaged", rig_->damaged()}, {"float_control_at_start", control_at_start_}, {"float_control", after}};
  }

  Json steps(const Json& r) {
    std::vector<double> seconds;
    for (int i = 0, n = r.at("n"); i < n; ++i) rig_->run_timed(seconds);
    return {{"seconds", seconds}};
  }

  Channel channel_;
  uint32_t control_at_start_;
  std::unique_ptr<GuardedMemory> held_blob_;
  const std::byte* mapped_ = nullptr;
  std::unique_ptr<Rig> rig_;
  std::vector<std::byte> payload_;
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
    amdahl::limit_process(memory);
    // Ties OpenMP's runtime to this program: were it unloaded with a candidate's library, its waiting threads would wake
    // up in unmapped code.
    if (omp_get_max_threads() < 1) return 1;
    amdahl::Worker worker(amdahl::take_stdio());
    amdahl::enter_sandbox();
    const int status = worker.serve();
    _exit(status);  // destructors of candidates' libraries have nothing left to say
  } catch (const std::exception& e) {
    fmt::print(stderr, "amdahl-worker: {}\n", e.what());
    return 1;
  }
}

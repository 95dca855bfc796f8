#include "tuner/model_bench.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/hash.h"
#include "graph/oracle.h"

namespace amdahl {

BlobFile::BlobFile() : fd_(memfd_create("amdahl-constants", MFD_CLOEXEC)) {
  if (fd_ < 0) throw Error(ExitCode::kIo, "cannot make a file in memory: is /dev/shm or memory full?");
}

BlobFile::~BlobFile() { close(fd_); }

void BlobFile::adopt(const Graph& graph, Program& program, const Blob& blob) {
  std::map<const std::byte*, const Tensor*> own;
  for (const Value& v : graph.values)
    if (v.constant) own[v.constant->data()] = &*v.constant;
  std::map<int64_t, int64_t> moved;
  for (const auto& [offset, tensor] : blob.pieces) {
    const bool is_own = own.count(tensor.data()) > 0;
    int64_t& at = is_own ? by_address_.try_emplace(tensor.data(), -1).first->second
                         : by_content_.try_emplace(hash_hex(tensor.data(), tensor.bytes()), -1).first->second;
    if (at < 0) {
      at = static_cast<int64_t>(bytes_);
      bytes_ += (tensor.bytes() + 63) / 64 * 64;
      if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) throw Error(ExitCode::kIo, "out of memory for the model's constants");
      for (size_t done = 0; done < tensor.bytes();) {
        const ssize_t n = pwrite(fd_, tensor.data() + done, tensor.bytes() - done, at + static_cast<off_t>(done));
        if (n <= 0) throw Error(ExitCode::kIo, "out of memory for the model's constants");
        done += static_cast<size_t>(n);
      }
    }
    moved[offset] = at;
  }
  for (Program::Buffer& b : program.buffers)
    if (b.blob_offset >= 0) b.blob_offset = moved.at(b.blob_offset);
  program.blob_bytes = bytes_;
}

ModelBench::ModelBench(const Graph& graph, Builder& builder, const BenchOptions& options, std::string cache_dir)
    : graph_(graph), builder_(builder), options_(options), cache_dir_(std::move(cache_dir)) {}

const Ceilings& ModelBench::ceilings() {
  if (!ceilings_) ceilings_ = std::make_unique<Ceilings>(cached_ceilings(this_machine(), cache_dir_));
  return *ceilings_;
}

Subject ModelBench::subject_of(const Plan& plan) {
  std::vector<std::vector<Step>> one_by_one;
  for (const Step& s : plan.steps) one_by_one.push_back({s});
  std::vector<std::string> libraries;
  for (const Built& built : builder_.build(one_by_one)) {
    if (!built.ok) throw Error(ExitCode::kInternal, "a kernel of the plan does not compile: " + built.message);
    libraries.push_back(built.libraries[0]);
  }
  Subject s;
  s.program = model_program(graph_, plan, libraries, &s.blob);
  blob_.adopt(graph_, s.program, s.blob);
  s.blob = {};
  return s;
}

Arm ModelBench::arm_of(const Subject& subject) const {
  Arm arm;
  arm.subjects = {&subject};
  arm.use_blob_fd = subject.program.blob_bytes > 0;
  return arm;
}

Drive ModelBench::drive(const Program& program) const {
  Drive d;
  d.worker = options_.worker;
  d.worker.blob_fd = blob_.fd();
  // Address space: the mapped constants, packed copies of them, activations, and what a process needs anyway.
  d.worker.memory_bytes =
      static_cast<int64_t>(3 * blob_.bytes() + program.arena_bytes) + std::max<int64_t>(options_.worker.memory_bytes, 0);
  d.input_seed = options_.seed >> 1;
  d.ranges = input_ranges(graph_, graph_.inputs);
  d.load_seconds = 120;
  d.call_seconds = 60;
  return d;
}

Profile ModelBench::profile(const Plan& plan) {
  const Subject subject = subject_of(plan);
  Random random(options_.seed);
  const Drive d = drive(subject.program);
  std::vector<std::vector<double>> samples;
  try {
    const auto worker = start_arm(arm_of(subject), d, random);
    const double once = worker->run(1, d.call_seconds);
    const int runs = static_cast<int>(std::clamp(1.0 / std::max(once, 1e-6), 5.0, 60.0));
    for (int r = 0; r < runs; ++r) {
      const std::vector<double> by_call = worker->steps(1, d.call_seconds);
      std::vector<double> by_step(plan.steps.size(), 0.0);
      for (size_t c = 0; c < by_call.size(); ++c)
        by_step[static_cast<size_t>(subject.program.calls[c].step)] += by_call[c];
      samples.push_back(std::move(by_step));
    }
  } catch (const WorkerDied& died) {
    throw Error(ExitCode::kInternal, "the plan cannot be run: " + died.death.reason);
  } catch (const WorkerRefused& refused) {
    throw Error(ExitCode::kInternal, std::string("the plan cannot be run: ") + refused.what());
  }
  return make_profile(graph_, plan, samples, ceilings());
}

Paired ModelBench::pair(const Plan& before, const Plan& after, Random& random) {
  Paired result;
  const Subject a = subject_of(before), b = subject_of(after);
  try {
    result.pair = measure_pair(arm_of(a), arm_of(b), drive(b.program), 6 * options_.pair_seconds, random);
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, "gate", options_.seed);
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", "gate", refused.what(), options_.seed};
  }
  return result;
}

const std::map<ValueId, std::vector<double>>& ModelBench::reference() {
  if (!reference_.empty()) return reference_;
  const std::vector<InputRange> ranges = input_ranges(graph_, graph_.inputs);
  RefValues given;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Value& v = graph_.value(graph_.inputs[i]);
    std::byte* data;
    const Tensor t = Tensor::allocate(v.dtype, v.shape, &data);
    fill_input(data, v.dtype, t.numel(), Family::kNormal, options_.seed >> 1, static_cast<int>(i), ranges[i]);
    given[graph_.inputs[i]] = RefTensor::of(t);
  }
  std::vector<NodeId> nodes(graph_.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  RefValues values = evaluate(graph_, nodes, given, graph_.outputs, /*bounds=*/false);
  for (auto& [v, r] : values) reference_[v] = r.is_float() ? std::move(r.value) : std::vector<double>(r.ints.begin(), r.ints.end());
  return reference_;
}

ModelCheck ModelBench::check(const Plan& plan) {
  ModelCheck result;
  const Subject subject = subject_of(plan);
  Random random(options_.seed);
  const Drive d = drive(subject.program);
  std::vector<std::byte> outputs;
  const uint64_t poison_seed = options_.seed >> 2;
  try {
    outputs = start_arm(arm_of(subject), d, random)->trial(0, poison_seed, subject.output_bytes(), d.call_seconds).outputs;
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, "gate", options_.seed);
    return result;
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", "gate", refused.what(), options_.seed};
    return result;
  }
  size_t at = 0;
  for (size_t o = 0; o < graph_.outputs.size(); ++o) {
    const Program::Buffer& b = subject.program.buffers[static_cast<size_t>(subject.program.outputs[o])];
    std::byte* data;
    const Tensor got = Tensor::allocate(b.dtype, b.shape, &data);
    std::memcpy(data, outputs.data() + at, b.bytes);
    at += b.bytes;
    const std::vector<double>& want = reference().at(graph_.outputs[o]);
    const std::vector<double> values = to_doubles(got);
    double error = 0, norm = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      if (std::isnan(want[i]) && std::isnan(values[i])) continue;
      if (want[i] == values[i]) {  // infinities too
        if (std::isfinite(want[i])) norm += want[i] * want[i];
        continue;
      }
      error += (values[i] - want[i]) * (values[i] - want[i]);
      norm += want[i] * want[i];
    }
    const double relative = error == 0 ? 0 : norm > 0 ? std::sqrt(error / norm) : INFINITY;
    if (!(relative < INFINITY))
      result.failure = Failure{Outcome::kWrong, "wrong-value", "gate", fmt::format("output '{}' of the whole model is not finite where it should be",
                                                                    graph_.value(graph_.outputs[o]).name), options_.seed};
    result.error = std::max(result.error, relative);
  }
  return result;
}

}  // namespace amdahl

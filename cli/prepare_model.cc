#include "cli/prepare_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/random.h"
#include "cli/progress.h"
#include "plan/devices.h"
#include "plan/index_limit.h"

namespace amdahl {
namespace {

// Shared with the compiling threads, which may outlive whoever waits for them (Ctrl-C).
struct CompileJobs {
  explicit CompileJobs(std::shared_ptr<const Toolchain> made_by) : toolchain(std::move(made_by)) {}
  void work() {
    for (size_t job; (job = next++) < variants.size();) {
      CompileResult result;
      std::exception_ptr failure;
      try {
        result = toolchain->compile(variants[job], {120});
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (failure) broken = failure;
      results[job] = std::move(result);
      last = variants[job].problem.kind;
      ++done;
      changed.notify_one();
    }
  }

  const std::shared_ptr<const Toolchain> toolchain;
  std::vector<Variant> variants;       // distinct; fixed before the first thread starts
  std::vector<CompileResult> results;  // by variant
  std::atomic<size_t> next{0};
  size_t done = 0;
  std::exception_ptr broken;  // nothing can be built any more
  std::string last;
  std::mutex mutex;
  std::condition_variable changed;
};

std::byte* copy_blob(const Blob& blob, size_t bytes, Device& device) {
  std::byte* data = device.allocate(bytes);
  for (const auto& [offset, tensor] : blob.pieces) device.write(data + offset, {tensor.data(), tensor.bytes()});
  return data;
}

}  // namespace

Tensor example_input(const Graph& graph, ValueId input, uint64_t seed) {
  const Value& value = graph.value(input);
  Random random(seed + hash64(value.name));
  const auto count = static_cast<size_t>(numel(value.shape));
  if (is_float(value.dtype)) {
    std::vector<double> numbers(count);
    for (double& x : numbers) x = random.normal();
    return from_doubles(value.dtype, value.shape, numbers);
  }
  std::vector<int64_t> numbers(count, 1);
  const int64_t limit = index_limit(graph, input);
  // Not used as an index: a mask or a flag, for which ones are what a full batch without padding gives.
  if (value.dtype != DType::kBool && limit < kNoIndexLimit)
    for (int64_t& x : numbers) x = static_cast<int64_t>(random.below(static_cast<uint64_t>(std::max<int64_t>(1, limit))));
  return from_ints(value.dtype, value.shape, numbers);
}

PreparedModel::PreparedModel(const Graph& graph, const Plan& plan, const GlobalOptions& global)
    : steps_(plan.steps.size()), device_(make_device(global.backend->target().backend, global.backend->target().device.number)) {
  for (ValueId v : graph.outputs) output_shapes_.push_back(graph.value(v).shape);
  const std::vector<std::string> library_of = compile(plan, global);
  Blob blob;
  Program program = model_program(graph, plan, library_of, &blob);
  const std::byte* constants = copy_blob(blob, program.blob_bytes, *device_);
  blob.pieces.clear();
  executor_ = std::make_unique<Executor>(std::move(program), *device_, constants);
  executor_->discard_packed_constants();
}

std::vector<std::string> PreparedModel::compile(const Plan& plan, const GlobalOptions& global) {
  const auto jobs = std::make_shared<CompileJobs>(global.backend->make_toolchain(global.cache_dir));
  toolchain_ = jobs->toolchain->description();
  std::map<std::string, size_t> job_of;  // by variant
  for (const Step& step : plan.steps)
    if (job_of.emplace(step.variant.id(), jobs->variants.size()).second) jobs->variants.push_back(step.variant);
  const size_t count = jobs->variants.size();
  kernels_ = static_cast<int>(count);
  jobs->results.resize(count);

  Progress progress("compiling kernels", global.progress());
  for (size_t t = 0; t < std::min<size_t>(static_cast<size_t>(this_machine().units), count); ++t) std::thread([jobs] { jobs->work(); }).detach();
  {
    std::unique_lock lock(jobs->mutex);
    while (jobs->done < count) {
      jobs->changed.wait_for(lock, std::chrono::milliseconds(100));
      progress.update(static_cast<double>(jobs->done), static_cast<double>(count), jobs->last);
      if (!interrupted() && !jobs->broken) continue;
      jobs->next = count;  // a compiler that still runs may end without us
      break;
    }
  }
  stop_if_interrupted();
  if (const std::lock_guard lock(jobs->mutex); jobs->broken) std::rethrow_exception(jobs->broken);
  for (size_t j = 0; j < count; ++j) {
    const Variant& variant = jobs->variants[j];
    if (!jobs->results[j].ok)
      throw Error(ExitCode::kInternal,
                  fmt::format("the {} kernel does not compile with {}: {}", variant.problem.kind, variant.compiler, jobs->results[j].message));
    compiled_ += !jobs->results[j].cached;
  }
  std::vector<std::string> library_of;
  for (const Step& step : plan.steps) library_of.push_back(jobs->results[job_of.at(step.variant.id())].library);
  return library_of;
}

std::vector<double> PreparedModel::run_timed() {
  const Program& program = executor_->program();
  std::vector<double> calls(program.calls.size()), steps(steps_);
  executor_->run_timed(calls);
  for (size_t c = 0; c < calls.size(); ++c) steps[static_cast<size_t>(program.calls[c].step)] += calls[c];
  return steps;
}

void PreparedModel::set_input(int i, const Tensor& tensor) {
  executor_->write(executor_->program().inputs[static_cast<size_t>(i)], {tensor.data(), tensor.bytes()});
}

Tensor PreparedModel::output(int i) {
  const int number = executor_->program().outputs[static_cast<size_t>(i)];
  const Program::Buffer& buffer = executor_->program().buffers[static_cast<size_t>(number)];
  std::byte* data = nullptr;
  Tensor tensor = Tensor::allocate(buffer.dtype, buffer.shape, &data);
  executor_->read(number, {data, tensor.bytes()});
  return tensor.reshaped(output_shapes_[static_cast<size_t>(i)]);  // a Reshape at the end has no buffer of its own
}

}  // namespace amdahl

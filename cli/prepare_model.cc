#include "cli/prepare_model.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/random.h"
#include "cli/progress.h"
#include "starter_kernels/backend.h"

namespace amdahl {
namespace {

std::byte* copy_blob(const Blob& blob, size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* data = static_cast<std::byte*>(memory);
  for (const auto& [offset, tensor] : blob.pieces) std::memcpy(data + offset, tensor.data(), tensor.bytes());
  return data;
}

// The smallest table that the values of this input choose from, followed through what keeps integers as they are.
int64_t index_limit(const Graph& graph, const Uses& uses, ValueId value) {
  int64_t limit = int64_t{1} << 30;
  for (NodeId n : uses.consumers[static_cast<size_t>(value)]) {
    const Node& node = graph.node(n);
    if ((node.op == "Gather" || node.op == "GatherElements") && node.inputs[1] == value) {
      const Shape& table = graph.value(node.inputs[0]).shape;
      int64_t axis = node.attr_int("axis", 0);
      if (axis < 0) axis += static_cast<int64_t>(table.size());
      limit = std::min(limit, table[static_cast<size_t>(axis)]);
    } else if (node.op == "Cast" || is_renaming(node) || node.op == "Expand" || node.op == "Slice" || node.op == "Transpose") {
      limit = std::min(limit, index_limit(graph, uses, node.outputs[0]));
    }
  }
  return limit;
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
  const int64_t limit = index_limit(graph, uses_of(graph), input);
  // Not used as an index: a mask or a flag, for which ones are what a full batch without padding gives.
  if (value.dtype != DType::kBool && limit < int64_t{1} << 30)
    for (int64_t& x : numbers) x = static_cast<int64_t>(random.below(static_cast<uint64_t>(std::max<int64_t>(1, limit))));
  return from_ints(value.dtype, value.shape, numbers);
}

PreparedModel::PreparedModel(const Graph& graph, const Plan& plan, const GlobalOptions& global) : steps_(plan.steps.size()) {
  const std::vector<std::string> library_of = compile(plan, global);
  Blob blob;
  Program program = model_program(graph, plan, library_of, &blob);
  blob_bytes_ = std::max<size_t>(1, program.blob_bytes);
  blob_ = copy_blob(blob, blob_bytes_);
  blob.pieces.clear();
  executor_ = std::make_unique<Executor>(std::move(program), blob_);
  // Weights that every kernel keeps packed need not stay a second time.
  const auto page = static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  for (const auto& [offset, bytes] : executor_->unused_blob_ranges()) {
    const int64_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
    if (end > begin) madvise(blob_ + begin, static_cast<size_t>(end - begin), MADV_DONTNEED);
  }
}

PreparedModel::~PreparedModel() {
  executor_.reset();
  if (blob_) munmap(blob_, blob_bytes_);
}

std::vector<std::string> PreparedModel::compile(const Plan& plan, const GlobalOptions& global) {
  const Toolchain toolchain(global.cache_dir);
  toolchain_ = toolchain.description();
  std::map<std::string, std::vector<size_t>> steps_of;  // by variant
  for (size_t i = 0; i < plan.steps.size(); ++i) steps_of[plan.steps[i].variant.id()].push_back(i);
  std::vector<const std::vector<size_t>*> jobs;
  for (const auto& [id, steps] : steps_of) jobs.push_back(&steps);
  kernels_ = static_cast<int>(jobs.size());

  std::vector<std::string> library_of(plan.steps.size());
  std::string failure;
  std::mutex mutex;
  std::atomic<size_t> next{0};
  size_t done = 0;
  Progress progress("compiling kernels", global.progress());
  const auto work = [&] {
    for (size_t job; (job = next++) < jobs.size() && !interrupted();) {
      const Variant& variant = plan.steps[jobs[job]->front()].variant;
      const CompileResult result = toolchain.compile(variant, {120});
      const std::lock_guard lock(mutex);
      if (!result.ok && failure.empty()) {
        failure = fmt::format("the {} kernel does not compile with {}: {}", variant.problem.kind, variant.compiler, result.message);
        next = jobs.size();
      }
      compiled_ += !result.cached;
      for (size_t step : *jobs[job]) library_of[step] = result.library;
      progress.update(static_cast<double>(++done), static_cast<double>(jobs.size()), variant.problem.kind);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < std::min<int>(this_machine().cores, kernels_); ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  stop_if_interrupted();
  if (!failure.empty()) throw Error(ExitCode::kInternal, failure);
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
  const int number = executor_->program().inputs[static_cast<size_t>(i)];
  const Program::Buffer& buffer = executor_->program().buffers[static_cast<size_t>(number)];
  to_format(tensor.data(), executor_->buffer(number), buffer.dtype, buffer.shape, buffer.format);
}

Tensor PreparedModel::output(int i) {
  const int number = executor_->program().outputs[static_cast<size_t>(i)];
  const Program::Buffer& buffer = executor_->program().buffers[static_cast<size_t>(number)];
  std::byte* data = nullptr;
  Tensor tensor = Tensor::allocate(buffer.dtype, buffer.shape, &data);
  from_format(executor_->buffer(number), data, buffer.dtype, buffer.shape, buffer.format);
  return tensor;
}

}  // namespace amdahl

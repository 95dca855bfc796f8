#include "plan/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/machine.h"
#include "plan/format.h"
#include "plan/memory_plan.h"

namespace amdahl {
namespace {

// Puts buffers and calls together; the two kinds of program differ in where constants come from.
class ProgramMaker {
 public:
  ProgramMaker(const Graph& graph, int threads, Blob* blob) : graph_(graph), blob_(blob) { program_.threads = threads; }

  int add(const Operand& o, Program::Role role) {
    const auto [it, is_new] = numbers_.try_emplace(o, static_cast<int>(program_.buffers.size()));
    if (!is_new) return it->second;
    const Value& value = graph_.value(o.value);
    Program::Buffer b;
    b.name = value.name;
    b.dtype = value.dtype;
    b.shape = value.shape;
    b.format = o.format;
    b.role = role;
    b.bytes = storage_bytes(value.dtype, value.shape, o.format);
    program_.buffers.push_back(std::move(b));
    return it->second;
  }

  int add_blob_constant(const Operand& o) {
    const bool known = numbers_.count(o) > 0;
    const int number = add(o, Program::Role::kConstant);
    if (known) return number;
    Program::Buffer& b = program_.buffers[static_cast<size_t>(number)];
    Tensor tensor = *graph_.value(o.value).constant;
    if (!o.format.empty()) {
      std::byte* raw;
      Tensor stored = Tensor::allocate(b.dtype, {static_cast<int64_t>(b.bytes / size_of(b.dtype))}, &raw);
      to_format(tensor.data(), raw, b.dtype, b.shape, b.format);
      tensor = stored;
    }
    b.blob_offset = static_cast<int64_t>(blob_->bytes);
    blob_->pieces.emplace_back(b.blob_offset, std::move(tensor));
    blob_->bytes += (b.bytes + 63) / 64 * 64;
    return number;
  }

  bool has(const Operand& o) const { return numbers_.count(o) > 0; }
  Program::Buffer& buffer(int number) { return program_.buffers[static_cast<size_t>(number)]; }

  // Constants must have been added before.
  void add_step(const Step& step, int step_number, const std::string& library) {
    Program::Call call;
    const auto it = libraries_.try_emplace(library, static_cast<int>(program_.libraries.size()));
    if (it.second) program_.libraries.push_back(library);
    call.kernel = it.first->second;
    call.step = step_number;
    for (const Operand& o : step.inputs) call.inputs.push_back(add(o, Program::Role::kTemporary));
    for (const Operand& o : step.outputs) call.outputs.push_back(add(o, Program::Role::kTemporary));
    program_.calls.push_back(std::move(call));
  }

  Program finish() {
    place_temporaries();
    program_.blob_bytes = blob_->bytes;
    require_memory();
    return std::move(program_);
  }

  Program program_;

 private:
  // Before anything is allocated: a machine that runs out of memory ends some process, and not always this one.
  void require_memory() const {
    double bytes = static_cast<double>(program_.arena_bytes) + static_cast<double>(program_.blob_bytes);
    for (const Program::Buffer& b : program_.buffers)
      if (b.role != Program::Role::kTemporary && b.blob_offset < 0) bytes += static_cast<double>(b.bytes);
    const auto memory = static_cast<double>(this_machine().memory_bytes);
    if (bytes > memory)
      throw Error(ExitCode::kUnsupported,
                  fmt::format("the model needs {:.1f} GiB for its weights and tensors, this machine has {:.1f}: choose smaller sizes with "
                              "--shape, --batch, --seq or --image",
                              bytes / 0x1p30, memory / 0x1p30));
  }

  void place_temporaries() {
    std::vector<int> which;
    std::vector<Lifetime> lifetimes;
    std::map<int, size_t> index;
    const auto touch = [&](int number, int call) {
      const Program::Buffer& b = program_.buffers[static_cast<size_t>(number)];
      if (b.role != Program::Role::kTemporary) return;
      const auto [it, is_new] = index.try_emplace(number, lifetimes.size());
      if (is_new) {
        which.push_back(number);
        lifetimes.push_back({b.bytes, call, call});
      }
      lifetimes[it->second].last = call;
    };
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      for (int b : program_.calls[c].inputs) touch(b, static_cast<int>(c));
      for (int b : program_.calls[c].outputs) touch(b, static_cast<int>(c));
    }
    const std::vector<int64_t> offsets = assign_offsets(lifetimes, &program_.arena_bytes);
    for (size_t i = 0; i < which.size(); ++i) program_.buffers[static_cast<size_t>(which[i])].arena_offset = offsets[i];
  }

  const Graph& graph_;
  Blob* blob_;
  std::map<Operand, int> numbers_;
  std::map<std::string, int> libraries_;
};

// Mean and deviation of a weight, from at most 4096 evenly spaced elements: of those that are finite, or as it was where none is.
void set_distribution(const Tensor& weight, Program::Buffer& b) {
  const int64_t n = weight.numel(), samples = std::min<int64_t>(n, 4096);
  const size_t width = size_of(weight.dtype());
  std::vector<std::byte> picked(static_cast<size_t>(samples) * width);
  for (int64_t i = 0; i < samples; ++i)
    std::memcpy(picked.data() + static_cast<size_t>(i) * width, weight.data() + static_cast<size_t>(i * (n / samples)) * width, width);
  std::vector<double> x = to_doubles(Tensor(weight.dtype(), {samples}, std::shared_ptr<const std::byte>(std::shared_ptr<void>(), picked.data())));
  std::erase_if(x, [](double v) { return !std::isfinite(v); });
  if (x.empty()) return;
  const auto count = static_cast<double>(x.size());
  double mean = 0, square = 0;
  for (double v : x) mean += v / count;
  for (double v : x) square += (v - mean) * (v - mean) / count;
  b.mean = mean;
  b.deviation = std::sqrt(square);
}

}  // namespace

Program model_program(const Graph& graph, const Plan& plan, const std::vector<std::string>& library_of, Blob* blob) {
  const std::vector<ValueId> storage = storage_of(graph);
  ProgramMaker maker(graph, plan.threads, blob);
  for (ValueId v : graph.inputs) maker.program_.inputs.push_back(maker.add({v, ""}, Program::Role::kInput));
  for (ValueId v : graph.outputs) {
    const Operand o{storage[static_cast<size_t>(v)], ""};
    const int number = graph.is_constant(o.value) ? maker.add_blob_constant(o) : maker.add(o, Program::Role::kOutput);
    maker.program_.outputs.push_back(number);
  }
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (const Operand& o : plan.steps[s].inputs)
      if (graph.is_constant(o.value)) maker.add_blob_constant(o);
    maker.add_step(plan.steps[s], static_cast<int>(s), library_of[s]);
  }
  return maker.finish();
}

Program window_program(const Graph& graph, const WindowIo& io, const std::vector<Step>& steps, const std::vector<std::string>& library_of, int threads,
                       Blob* blob) {
  ProgramMaker maker(graph, threads, blob);
  std::vector<ValueId> distinct;
  for (const Operand& o : io.inputs) {
    auto at = std::find(distinct.begin(), distinct.end(), o.value);
    if (at == distinct.end()) at = distinct.insert(distinct.end(), o.value);
    const int number = maker.add(o, Program::Role::kInput);
    maker.buffer(number).source = static_cast<int>(at - distinct.begin());
    maker.program_.inputs.push_back(number);
  }
  for (const Operand& o : io.outputs) maker.program_.outputs.push_back(maker.add(o, Program::Role::kOutput));
  for (size_t s = 0; s < steps.size(); ++s) {
    for (const Operand& o : steps[s].inputs) {
      if (!graph.is_constant(o.value) || maker.has(o)) continue;
      const Tensor& constant = *graph.value(o.value).constant;
      if (is_structural(graph.value(o.value))) {
        maker.add_blob_constant(o);
        continue;
      }
      const auto at = std::find(io.constants.begin(), io.constants.end(), o.value);
      if (at == io.constants.end()) throw Error(ExitCode::kInternal, "a challenger reads a weight that its window does not");
      Program::Buffer& b = maker.buffer(maker.add(o, Program::Role::kConstant));
      b.source = static_cast<int>(at - io.constants.begin());
      set_distribution(constant, b);
    }
    maker.add_step(steps[s], static_cast<int>(s), library_of[s]);
  }
  return maker.finish();
}

}  // namespace amdahl

#pragma once
// Compiles a plan's kernels, runs the plan on seeded inputs and judges the outputs by the float64 oracle with bounds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <list>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "graph/oracle.h"
#include "plan/cpu_device.h"
#include "plan/executor.h"
#include "plan/plan.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl::testing {

inline const CpuToolchain& toolchain() {
  static const CpuToolchain instance(default_cache_dir(), KernelRules::kSymbolsAlone);  // mutants are our own texts, not somebody's
  return instance;
}

// Where cases are built and run.
struct KernelBench {
  const Toolchain& toolchain;
  std::unique_ptr<Device> (*make_device)();

  const Target& target() const { return toolchain.target(); }
};
inline const KernelBench& processor_bench();

// AMDAHL_KINDS=matmul,conv narrows a run while working on a kind.
inline bool kind_selected(std::string_view kind) {
  const char* only = std::getenv("AMDAHL_KINDS");
  return !only || fmt::format(",{},", only).find(fmt::format(",{},", kind)) != std::string::npos;
}

// Each value of each knob on one case of several keeps a run short: the value number v on the case c where c + v is a multiple of their number.
// AMDAHL_EXHAUSTIVE=1 tries all on all.
class Turns {
 public:
  explicit Turns(size_t cases) : cases_(std::getenv("AMDAHL_EXHAUSTIVE") ? 1 : std::max<size_t>(cases, 1)) {}
  // Asked for all values of one case, then of the next.
  void begin_case() { turn_ = case_++; }
  bool takes_next_value() { return turn_++ % cases_ == 0; }

 private:
  size_t cases_, case_ = 0, turn_ = 0;
};

// A plan of a graph, run on the inputs of a seed. The name is for messages.
struct Case {
  std::string name;
  Graph graph;
  Plan plan;
  uint64_t seed = 0;
};

// Fills the toolchain's cache with the cases' kernels, a compiler on each core: a test that then judges them one after
// another does not wait for compilers. What does not build is left for judge() to report.
inline void compile_ahead(const std::vector<Case>& cases, const KernelBench& bench = processor_bench()) {
  std::vector<const Variant*> todo;
  std::set<std::string> seen;
  for (const Case& c : cases)
    for (const Step& step : c.plan.steps)
      if (seen.insert(step.variant.id()).second) todo.push_back(&step.variant);
  std::atomic<size_t> next{0};
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    workers.emplace_back([&] {
      for (size_t n; (n = next++) < todo.size();) bench.toolchain.compile(*todo[n]);
    });
}

// The plan with its texts compiled as they stand: four texts took 0.1 s each on a Zen 4, and 0.4 to 1.5 s optimised (2026-11-27). -nostdinc++: of <math.h> the C
// functions alone, which are all that kernels call; what else C++ makes of that header is 0.12 s.
inline Plan unoptimised(Plan plan) {
  for (Step& step : plan.steps)
    for (const char* flag : {"-O0", "-nostdinc++"}) step.variant.flags.push_back(flag);
  return plan;
}

// Integer inputs are indices or labels in [0, 2): valid for any axis of size >= 2; bytes are neither, and any. Floats are normal.
inline Tensor random_tensor(const Value& value, uint64_t seed) {
  Random random(seed);
  const auto n = static_cast<size_t>(numel(value.shape));
  if (is_float(value.dtype)) {
    std::vector<double> v(n);
    for (double& x : v) x = random.normal();
    return from_doubles(value.dtype, value.shape, v);
  }
  std::vector<int64_t> v(n);
  const bool bytes = value.dtype == DType::kU8 || value.dtype == DType::kI8;
  for (int64_t& x : v) x = static_cast<int64_t>(random.below(bytes ? 256 : 2));
  return from_ints(value.dtype, value.shape, v);
}

struct Judgement {
  bool built = false, ran = false, within = false;
  std::string reason;
  double worst = 0;  // largest error / bound
};

// One float element against its reference. Expected NaN must be NaN; infinities must match.
inline bool element_ok(double got, double want, double bound, double* ratio) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  const double error = std::fabs(got - want);
  if (bound > 0) *ratio = std::max(*ratio, error / bound);
  return error <= bound;
}

inline void compare(const Tensor& got, const RefTensor& want, Judgement& j) {
  if (want.is_float()) {
    const std::vector<double> values = to_doubles(got);
    for (size_t i = 0; i < values.size(); ++i) {
      // Storage rounding of the result itself is part of an honest kernel.
      if (element_ok(values[i], want.value[i], want.bound_at(static_cast<int64_t>(i)), &j.worst)) continue;
      j.within = false;
      j.reason = fmt::format("element {}: got {}, expected {} ± {}", i, values[i], want.value[i], want.bound_at(static_cast<int64_t>(i)));
      return;
    }
    return;
  }
  const std::vector<int64_t> values = to_ints(got);
  for (size_t i = 0; i < values.size(); ++i) {
    const double bound = want.bound_at(static_cast<int64_t>(i));  // of those that floats decided
    if (values[i] == want.ints[i] || std::fabs(static_cast<double>(values[i]) - static_cast<double>(want.ints[i])) <= bound) continue;
    j.within = false;
    j.reason = fmt::format("element {}: got {}, expected {} ± {}", i, values[i], want.ints[i], bound);
    return;
  }
}

// What a kernel does not write must be seen: all bits set are a NaN in every float type, and -1 or the largest integer.
inline void poison(const Program& program, Executor& executor) {
  for (size_t b = 0; b < program.buffers.size(); ++b)
    if (const Program::Role role = program.buffers[b].role; role == Program::Role::kOutput || role == Program::Role::kTemporary)
      executor.write(static_cast<int>(b), std::vector<std::byte>(program.buffers[b].bytes, std::byte{0xff}));
}

// A processor whose memory lies between 64 KiB of bytes that are all set: a mutant that reads or writes past an end is judged by what comes of it and
// does not take the test with it.
class WideMargins : public CpuDevice {
 public:
  std::byte* allocate(size_t bytes) override {
    constexpr size_t kMargin = size_t{64} << 10;
    auto& memory = taken_.emplace_back(bytes + 2 * kMargin + 64, std::byte{0xff});
    auto* data = memory.data() + kMargin;
    data += (64 - reinterpret_cast<uintptr_t>(data) % 64) % 64;
    std::memset(data, 0, bytes);
    return data;
  }

 private:
  std::list<std::vector<std::byte>> taken_;
};

inline const KernelBench& processor_bench() {
  static const KernelBench bench{toolchain(), [] { return std::unique_ptr<Device>(std::make_unique<WideMargins>()); }};
  return bench;
}

// A plan's program on a device of its own, with `inputs` in the order of the graph's.
struct OnDevice {
  OnDevice(const Graph& graph, const Plan& plan, const std::vector<std::string>& libraries, const std::vector<Tensor>& inputs, const KernelBench& bench)
      : program(model_program(graph, plan, libraries, &blob)), device(bench.make_device()), executor(program, *device, constants()) {
    for (size_t i = 0; i < inputs.size(); ++i) executor.write(program.inputs[i], {inputs[i].data(), inputs[i].bytes()});
  }

  Blob blob;
  Program program;
  std::unique_ptr<Device> device;
  Executor executor;

 private:
  const std::byte* constants() const {
    std::byte* memory = device->allocate(blob.bytes);
    for (const auto& [offset, tensor] : blob.pieces) device->write(memory + offset, {tensor.data(), tensor.bytes()});
    return memory;
  }
};

// Paths of a plan's kernels, or nothing, and why.
inline std::vector<std::string> libraries_of(const Plan& plan, const KernelBench& bench, std::string* why) {
  std::vector<std::string> libraries;
  for (const Step& step : plan.steps) {
    const CompileResult r = bench.toolchain.compile(step.variant);
    if (!r.ok) {
      *why = "build: " + r.message;
      return {};
    }
    libraries.push_back(r.library);
  }
  return libraries;
}

// `inputs` in the order of the graph's. `outputs`, when given, receives what the last run wrote.
inline Judgement judge(const Graph& graph, const Plan& plan, const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs = nullptr,
                       const KernelBench& bench = processor_bench()) {
  Judgement j;
  const std::vector<std::string> libraries = libraries_of(plan, bench, &j.reason);
  if (!j.reason.empty()) return j;
  j.built = true;
  OnDevice on(graph, plan, libraries, inputs, bench);
  const Program& program = on.program;
  Executor& executor = on.executor;
  RefValues given;
  for (size_t i = 0; i < graph.inputs.size(); ++i) given[graph.inputs[i]] = RefTensor::of(inputs[i]);
  std::vector<NodeId> nodes(graph.nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) nodes[n] = static_cast<NodeId>(n);
  ProductArithmetic products;
  for (const Step& s : plan.steps) {
    if (multiplies_in_bf16(s.variant.problem)) products.rounding = 0x1.0p-8;
    products.strassen = std::max(products.strassen, strassen_levels(s.variant.problem));
  }
  const RefValues want = evaluate(graph, nodes, given, graph.outputs, true, products);
  j.within = true;
  // Twice: first in zeroed scratch, then in what the first run left there.
  for (int run = 0; run < 2 && j.within; ++run) {
    poison(program, executor);
    try {
      executor.run();
    } catch (const DeviceFault& fault) {
      j.within = false;
      j.reason = fault.what();
      break;
    }
    j.ran = true;
    if (outputs) outputs->clear();
    for (size_t o = 0; o < graph.outputs.size() && j.within; ++o) {
      const Value& value = graph.value(graph.outputs[o]);
      std::byte* out;
      const Tensor got = Tensor::allocate(value.dtype, value.shape, &out);
      executor.read(program.outputs[o], {out, got.bytes()});
      compare(got, want.at(graph.outputs[o]), j);
      if (outputs) outputs->push_back(got);
    }
  }
  return j;
}

inline Judgement judge(const Graph& graph, const Plan& plan, uint64_t seed, const KernelBench& bench = processor_bench()) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) inputs.push_back(random_tensor(graph.value(graph.inputs[i]), seed + i));
  return judge(graph, plan, inputs, nullptr, bench);
}

inline Judgement judge(const Case& c, const KernelBench& bench = processor_bench()) { return judge(c.graph, c.plan, c.seed, bench); }

inline void expect_within(const std::vector<Case>& cases, const KernelBench& bench = processor_bench()) {
  compile_ahead(cases, bench);
  for (const Case& c : cases) {
    ASSERT_EQ(check(c.graph, c.plan), "") << c.name;
    const Judgement j = judge(c, bench);
    EXPECT_TRUE(j.within) << c.name << ": " << j.reason;
  }
}

// `plan` with these knobs of one step set; nullopt when the kind lacks one of the values or refuses the combination.
inline std::optional<Plan> with_knobs(const Plan& plan, size_t step, const Knobs& knobs, const Target& target = cpu_target()) {
  Plan out = plan;
  Variant& variant = out.steps[step].variant;
  for (const auto& [name, value] : knobs) variant.knobs[name] = value;
  const SearchSpace space = target.space(variant.problem);
  for (const auto& [name, value] : knobs) {
    const Knob* known = space.find(name);
    if (!known || !std::count(known->values.begin(), known->values.end(), value)) return std::nullopt;
  }
  if (space.refuse && !space.refuse(variant.knobs).empty()) return std::nullopt;
  return out;
}

inline std::optional<Plan> with_knob(const Plan& plan, size_t step, const std::string& knob, int64_t value, const Target& target = cpu_target()) {
  return with_knobs(plan, step, {{knob, value}}, target);
}

}  // namespace amdahl::testing

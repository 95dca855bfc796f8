// The cxx format for NVIDIA's cards without one: exports are built with what they ship with, loaded, and run on a driver that records (fake_cuda_driver.h).
// What they launch is held against what plan/executor.h launches for the same plan. Kernels are really compiled, so NVRTC is needed. On a machine with a card
// the self-test of an export runs there too.

#include "export/cxx_cuda.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "base/cuda/cubin.h"
#include "base/cuda/nvrtc.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "graph/models/builders.h"
#include "plan/cuda_device.h"
#include "plan/executor.h"
#include "playbook/first_plan.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/export/fake_cuda_driver.h"
#include "tests/export/self_test_of.h"
#include "tests/graph/temporary_folder.h"
#include "tests/plan/packing_cuda_text.h"
#include "tests/playbook/network.h"
#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

using testing::hopper;
using testing::self_test_of;
using testing::TemporaryFolder;

std::string why_no_nvrtc() {
  try {
    const cuda::Nvrtc nvrtc;
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

using Tensors = std::vector<std::vector<std::byte>>;

Tensors bytes_of(const std::vector<Tensor>& tensors) {
  Tensors all;
  for (const Tensor& t : tensors) all.emplace_back(t.data(), t.data() + t.bytes());
  return all;
}
// For the outputs of the expected ones.
Tensors room_for(const Tensors& tensors) {
  Tensors all;
  for (const auto& t : tensors) all.emplace_back(t.size(), std::byte{0xff});
  return all;
}

// An export in a folder of its own, built, with its library loaded into this process.
class Exported {
 public:
  using Model = void;

  Exported(const std::string& name, Graph graph, Plan plan)
      : name_(name), graph_(std::move(graph)), plan_(std::move(plan)), test_(self_test_of(graph_)), in_(bytes_of(test_.inputs)) {
    write_cxx_cuda({graph_, plan_, name, folder_.str(), test_, 1.0, "a test", {}, hopper(), default_cache_dir()});
    const SubprocessResult built = shell("cmake -S . -B build -G Ninja -DCMAKE_CXX_FLAGS='-Wall -Wextra' && cmake --build build");
    EXPECT_EQ(built.exit_code, 0) << built.output.substr(0, 3000);
    EXPECT_FALSE(has(built.output, "warning")) << built.output.substr(0, 3000);
    library_ = dlopen((folder_ / ("build/lib" + name + ".so")).c_str(), RTLD_NOW);
    if (!library_) throw std::runtime_error(dlerror());
    describe_kernels();
  }

  SubprocessResult shell(const std::string& command) const { return run_subprocess({"sh", "-c", "cd '" + folder_.str() + "' && " + command}, {300}); }
  // A program of the export with the fake driver.
  SubprocessResult with_fake(const std::string& command, const std::string& capability = "9.0") const {
    return shell("export LD_LIBRARY_PATH='" FAKE_CUDA_FOLDER "' FAKE_CUDA_CAPABILITY=" + capability + " && " + command);
  }
  std::string text(const std::string& file) const { return read_text(folder_ / file); }
  bool holds(const std::string& file) const { return std::filesystem::exists(folder_ / file); }
  std::string file(const std::string& name) const { return folder_ / name; }
  const Graph& graph() const { return graph_; }
  const Plan& plan() const { return plan_; }
  const SelfTestCase& test() const { return test_; }
  const Tensors& in() const { return in_; }

  // The C interface.
  Model* create(std::string* error = nullptr, int card = -1, const char* build = nullptr, const char* weights = nullptr) const {
    char text[512] = "";
    const std::string path = weights ? weights : file("weights.bin");
    Model* model = function<Model*(int, const char*, const char*, char*, size_t)>("create_on")(card, build, path.c_str(), text, sizeof text);
    if (error) *error = text;
    return model;
  }
  void destroy(Model* model) const { function<void(Model*)>("destroy")(model); }
  std::string error(Model* model) const { return function<const char*(Model*)>("error")(model); }
  std::string build(Model* model) const { return function<const char*(Model*)>("build")(model); }
  int run(Model* model, Tensors* out) const {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const auto& t : in_) inputs.push_back(t.data());
    for (auto& t : *out) outputs.push_back(t.data());
    return function<int(Model*, const void* const*, void* const*)>("run")(model, inputs.data(), outputs.data());
  }
  int launch(Model* model, const std::vector<const void*>& inputs, const std::vector<void*>& outputs, void* stream) const {
    return function<int(Model*, const void* const*, void* const*, void*)>("launch")(model, inputs.data(), outputs.data(), stream);
  }
  template <typename F>
  F* function(const std::string& what) const {
    return reinterpret_cast<F*>(dlsym(library_, (name_ + "_" + what).c_str()));
  }

  Tensors room() const { return room_for(bytes_of(test_.expected)); }
  Tensors result(const char* build = nullptr) const {
    std::string why;
    Model* model = create(&why, -1, build);
    EXPECT_NE(model, nullptr) << why;
    Tensors out = room();
    fake_cuda::forget();
    EXPECT_EQ(run(model, &out), 0) << error(model);
    launches_ = fake_cuda::launches();
    destroy(model);
    return out;
  }
  const std::vector<std::string>& launches() const { return launches_; }  // of result()

 private:
  // To the fake driver, which cannot know what kernels read.
  void describe_kernels() const {
    const CudaToolchain toolchain(default_cache_dir(), hopper());
    for (const Step& s : plan_.steps) {
      const CompileResult cubin = toolchain.compile(s.variant), ptx = toolchain.compile_portable(s.variant);
      const cuda::Cubin read = cuda::read_cubin(cubin.library);
      for (const std::string& image : {read.image, ptx.ok ? read_text(ptx.library) : ""}) {
        const auto inputs = static_cast<int>(s.inputs.size()), outputs = static_cast<int>(s.outputs.size());
        for (const cuda::Launch& l : read.launches) fake_cuda::describe(image, l.function(), std::max(1, inputs), outputs);
        for (const cuda::Pack& p : read.packs)
          if (p.bytes > 0) fake_cuda::describe(image, p.launch.function(), 1, 1);
      }
    }
  }

  TemporaryFolder folder_;
  const std::string name_;
  const Graph graph_;
  const Plan plan_;
  const SelfTestCase test_;
  const Tensors in_;
  void* library_ = nullptr;
  mutable std::vector<std::string> launches_;
};

// The caller's own context.
struct Context {
  Context() { cuCtxPushCurrent_v2(this); }
  ~Context() {
    void* own = nullptr;
    cuCtxPopCurrent_v2(&own);
  }
};

// The same plan by the executor, on the same driver.
struct ByExecutor {
  explicit ByExecutor(const Exported& e) {
    const Context replaced;  // by the device, which sets one and leaves it
    const CudaToolchain toolchain(default_cache_dir(), hopper());
    std::vector<std::string> library_of;
    for (const Step& s : e.plan().steps) library_of.push_back(toolchain.compile(s.variant).library);
    Blob blob;
    const Program program = model_program(e.graph(), e.plan(), library_of, &blob);
    const std::unique_ptr<Device> device = make_cuda_device(0);
    std::byte* constants = device->allocate(blob.bytes);
    for (const auto& [offset, tensor] : blob.pieces) device->write(constants + offset, {tensor.data(), tensor.bytes()});
    Executor executor(program, *device, constants);
    for (size_t i = 0; i < program.inputs.size(); ++i) executor.write(program.inputs[i], e.in()[i]);
    fake_cuda::forget();
    executor.run();
    launches = fake_cuda::launches();
    out = e.room();
    for (size_t o = 0; o < program.outputs.size(); ++o) executor.read(program.outputs[o], out[o]);
  }
  Tensors out;
  std::vector<std::string> launches;
};

// The fake's kernels write a number to the first bytes of an output and leave the others.
Tensors first_bytes(Tensors tensors) {
  for (auto& t : tensors) t.resize(std::min<size_t>(t.size(), 4));
  return tensors;
}
// "amdahl_kernel_0 <<<…>>>" of "amdahl_kernel_0 of 12345678 <<<…>>>".
std::vector<std::string> without_images(std::vector<std::string> launches) {
  for (std::string& l : launches) l.erase(l.find(" of "), 12);
  return launches;
}
// What the driver compiles for another card waits for nothing, so it must not begin early.
std::vector<std::string> none_early(std::vector<std::string> launches) {
  for (std::string& l : launches)
    if (const size_t at = l.find(", early"); at != std::string::npos) l.erase(at, 7);
  return launches;
}

void expect_the_executors_launches(const Exported& e) {
  const ByExecutor expected(e);
  EXPECT_EQ(first_bytes(e.result("tuned")), first_bytes(expected.out));
  EXPECT_EQ(e.launches(), expected.launches);
  const Tensors portable = e.result("portable");
  EXPECT_EQ(without_images(e.launches()), none_early(without_images(expected.launches)));
  if (!expected.launches.empty()) {
    EXPECT_NE(first_bytes(portable), first_bytes(expected.out)) << "other code";
  }
}

Graph gpt2() { return find_shipped_model("gpt2-mini")->build({}); }

// Outputs that are an output, an input and a weight; a temporary; a workspace in use.
Graph shared_outputs() {
  ExampleGraph g("shared");
  const ValueId x = g.input({4, 600}), w = g.normal({600, 24}, 1);
  const ValueId y = g.node("MatMul", {x, w});
  const ValueId z = g.node("MatMul", {g.node("Relu", {y}), g.normal({24, 8}, 2)});
  return g.finish({y, g.node("Reshape", {y, g.ints({2}, {8, 12})}), g.node("Identity", {x}), g.node("Identity", {w}), z});
}

// No step at all. The last output is of half floats.
Graph handed_on() {
  ExampleGraph g("handed on");
  const ValueId x = g.input({3, 5});
  return g.finish({g.node("Identity", {x}), g.node("Reshape", {x, g.ints({1}, {15})}), g.node("Identity", {g.normal({70}, 1, 0, 1, DType::kF16)})});
}

// Two steps of one kernel that packs its second operand; a weight of each, and one that both read.
const std::string kPacks = testing::packing_cuda_text(64, 60000);

Graph subtractions() {
  ExampleGraph g("subtractions");
  const ValueId x = g.input({64}), both = g.normal({64}, 1), other = g.normal({64}, 2);
  const ValueId first = g.node("Sub", {x, both});
  return g.finish({g.node("Sub", {g.node("Sub", {first, other}), both}), g.node("Identity", {other})});
}

Plan with_text(Plan plan, const std::string& text) {
  for (Step& s : plan.steps) s.variant.source_override = text;
  return plan;
}

class CxxCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "this test compiles kernels: " << why;
    fake_cuda::set_capability(9, 0);
    fake_cuda::fail(-1, 0);
    fake_cuda::forget();
  }
  void TearDown() override {
    EXPECT_EQ(fake_cuda::alive(), "");
    EXPECT_EQ(fake_cuda::current_contexts(), 0);
    fake_cuda::fail(-1, 0);
  }
  // Built once for all tests.
  static const Exported& packing() {
    static const Exported e("packing", subtractions(), with_text(starter_plan(subtractions(), 1, hopper()), kPacks));
    return e;
  }
  static const Exported& sharing() {
    static const Exported e("sharing", shared_outputs(), starter_plan(shared_outputs(), 1, hopper()));
    return e;
  }
};

TEST_F(CxxCuda, LaunchesWhatTheExecutorLaunchesForAModel) {
  const Exported e("gpt2_mini", gpt2(), starter_plan(gpt2(), 1, hopper()));
  expect_the_executors_launches(e);
}

// A product of half floats copies boxes of its first operand: the export makes the executor's maps.
TEST_F(CxxCuda, MakesTheMapsThatKernelsAskFor) {
  ExampleGraph g("boxes");
  const ValueId x = g.input(DType::kF16, {70, 136});
  const Graph graph = g.finish({g.node("MatMul", {x, g.normal({136, 80}, 1, 0, 1, DType::kF16)})});
  const Plan plan = starter_plan(graph, 1, hopper());
  const Knobs& knobs = plan.steps.at(0).variant.knobs;
  ASSERT_EQ(knobs.at("FORM"), 4) << "copies of boxes";
  const Exported e("boxes", graph, plan);
  fake_cuda::take_maps();
  const Tensors by_executor = ByExecutor(e).out;
  const std::vector<std::string> expected{fmt::format("70 x 136, 272 bytes apart, in boxes of {} x 64", 64 * knobs.at("WARPGROUPS"))};
  EXPECT_EQ(fake_cuda::take_maps(), expected);
  EXPECT_EQ(first_bytes(e.result()), first_bytes(by_executor));
  EXPECT_EQ(fake_cuda::take_maps(), expected);
}

// Convolutions over channels last copy boxes of the windows that a tap sees, or of the pixels where that is one.
TEST_F(CxxCuda, MakesTheMapsOfWindows) {
  testing::Network n(DType::kF16);
  const ValueId wide = n.conv(n.conv(n.input({2, 64, 9, 10}), 72, 3, 2), 128, 1, 1);
  n.output(n.conv(n.conv(wide, 64, 1, 2), 64, 1, 1));
  const Plan plan = first_plan(n.graph, 1, hopper());
  std::vector<int64_t> rows;
  for (const Step& s : plan.steps)
    if (s.variant.problem.kind == "conv") rows.push_back(64 * s.variant.knobs.at("WARPGROUPS"));
  ASSERT_EQ(rows.size(), 4u);
  const Exported e("windows", n.graph, plan);
  fake_cuda::take_maps();
  const Tensors by_executor = ByExecutor(e).out;
  const std::vector<std::string> expected{
      fmt::format("2 of 9 x 10 x 64, 128 bytes apart, in boxes of {} x 64, windows from (-1, -1) to (-2, -1) by (2, 2)", rows[0]),
      fmt::format("50 x 72, 144 bytes apart, in boxes of {} x 64", rows[1]),
      fmt::format("2 of 5 x 5 x 128, 256 bytes apart, in boxes of {} x 64, windows from (0, 0) to (0, 0) by (2, 2)", rows[2]),
      fmt::format("18 x 64, 128 bytes apart, in boxes of {} x 64", rows[3])};
  EXPECT_EQ(fake_cuda::take_maps(), expected);
  EXPECT_EQ(first_bytes(e.result()), first_bytes(by_executor));
  EXPECT_EQ(fake_cuda::take_maps(), expected);
}

TEST_F(CxxCuda, OutputsMayBeInputsWeightsAndOneAnother) {
  const Exported& e = sharing();
  expect_the_executors_launches(e);
  const Tensors out = e.result();
  EXPECT_EQ(out[1], out[0]);
  EXPECT_EQ(out[2], bytes_of(e.test().expected)[2]);
  EXPECT_EQ(out[3], bytes_of(e.test().expected)[3]);
}

TEST_F(CxxCuda, PacksWeightsOnceByTheKernelItself) {
  const Exported& e = packing();
  expect_the_executors_launches(e);
  fake_cuda::forget();
  e.destroy(e.create());
  EXPECT_EQ(fake_cuda::launches().size(), 2u) << "one for each weight";
  EXPECT_EQ(e.result()[1], bytes_of(e.test().expected)[1]) << "an output that is a packed weight";
}

// Whichever call of the driver fails: the message names it, and nothing is left.
void expect_every_failure_told(const Exported& e, int card) {
  fake_cuda::forget();
  e.destroy(e.create(nullptr, card));
  const std::vector<std::string> calls = fake_cuda::calls();
  const auto last =
      static_cast<int>(std::find(calls.rbegin(), calls.rend(), "cuStreamSynchronize").base() - calls.begin()) + 2;  // staging goes, the context too
  ASSERT_GT(last, 15);
  const std::string before = fake_cuda::alive();
  const int contexts = fake_cuda::current_contexts();
  for (int n = 0; n < last; ++n) {
    if (calls[static_cast<size_t>(n)] == "cuMemFree") continue;  // nobody can do anything about it
    fake_cuda::fail(n, 2);
    std::string error;
    void* model = e.create(&error, card);
    EXPECT_EQ(model, nullptr) << n;
    const bool starts = calls[static_cast<size_t>(n)] == "cuInit";
    EXPECT_TRUE(has(error, starts ? "the NVIDIA driver does not start" : "says of " + calls[static_cast<size_t>(n)] + ":")) << n << ": " << error;
    EXPECT_TRUE(has(error, "close other programs that use the card")) << error;
    fake_cuda::fail(-1, 0);
    if (model) e.destroy(model);
    EXPECT_EQ(fake_cuda::alive(), before) << n << ", " << calls[static_cast<size_t>(n)];
    if (calls[static_cast<size_t>(n)] != "cuCtxPopCurrent") {
      EXPECT_EQ(fake_cuda::current_contexts(), contexts) << n;
    }
    while (fake_cuda::current_contexts() > contexts) {
      void* own = nullptr;
      cuCtxPopCurrent_v2(&own);
    }
  }
}

TEST_F(CxxCuda, EveryFailureOfCreateIsTold) {
  expect_every_failure_told(packing(), -1);
  expect_every_failure_told(packing(), 0);
  const Context callers;
  expect_every_failure_told(packing(), -1);
}

TEST_F(CxxCuda, EveryFailureOfARunIsTold) {
  const Exported& e = sharing();
  void* model = e.create();
  Tensors right = e.room();
  fake_cuda::forget();
  ASSERT_EQ(e.run(model, &right), 0);
  const std::vector<std::string> calls = fake_cuda::calls();
  const std::string before = fake_cuda::alive();
  for (size_t n = 0; n < calls.size(); ++n) {
    fake_cuda::fail(static_cast<int>(n), 700);
    Tensors out = e.room();
    EXPECT_NE(e.run(model, &out), 0) << calls[n];
    EXPECT_TRUE(has(e.error(model), "says of " + calls[n] + ":") && has(e.error(model), "a kernel faulted")) << e.error(model);
    fake_cuda::fail(-1, 0);
    while (fake_cuda::current_contexts() > 0) {
      EXPECT_EQ(calls[n], "cuCtxPopCurrent");
      void* own = nullptr;
      cuCtxPopCurrent_v2(&own);
    }
  }
  EXPECT_EQ(fake_cuda::alive(), before);
  Tensors again = e.room();
  EXPECT_EQ(e.run(model, &again), 0);
  EXPECT_EQ(again, right);
  e.destroy(model);
}

// Tensors on the fake card, to launch with.
struct OnCard {
  explicit OnCard(const Tensors& tensors) {
    for (const auto& t : tensors) {
      uint64_t address = 0;
      EXPECT_EQ(cuMemAlloc_v2(&address, t.size()), 0);
      std::memcpy(reinterpret_cast<void*>(address), t.data(), t.size());
      pointers.push_back(reinterpret_cast<void*>(address));
    }
  }
  ~OnCard() {
    for (void* p : pointers) cuMemFree_v2(reinterpret_cast<uint64_t>(p));
  }
  Tensors bytes(const Tensors& like) const {
    Tensors all;
    for (size_t i = 0; i < like.size(); ++i) all.emplace_back(static_cast<std::byte*>(pointers[i]), static_cast<std::byte*>(pointers[i]) + like[i].size());
    return all;
  }
  std::vector<void*> pointers;
};

TEST_F(CxxCuda, ALaunchOnlyBeginsWorkOnTheCallersStream) {
  const Exported& e = sharing();
  const Tensors right = e.result();
  const Context callers;
  void *model = e.create(), *stream = nullptr, *graph = nullptr, *executable = nullptr;
  ASSERT_NE(model, nullptr);
  EXPECT_FALSE(has(fake_cuda::alive(), "contexts")) << "the context is its owner's";
  ASSERT_EQ(cuStreamCreate(&stream, 1), 0);
  {
    const OnCard in(e.in()), out(e.room());
    const std::vector<const void*> inputs(in.pointers.begin(), in.pointers.end());
    ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), 0);
    fake_cuda::forget();
    EXPECT_EQ(e.launch(model, inputs, out.pointers, stream), 0) << e.error(model);
    const std::vector<std::string> calls = fake_cuda::calls();
    EXPECT_EQ(std::set<std::string>(calls.begin(), calls.end()),
              (std::set<std::string>{"cuCtxPushCurrent", "cuCtxPopCurrent", "cuLaunchKernelEx", "cuMemcpyDtoDAsync"}));
    EXPECT_TRUE(fake_cuda::launches().empty()) << "captured, not run";
    ASSERT_EQ(cuStreamEndCapture(stream, &graph), 0);
    ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
    ASSERT_EQ(cuGraphLaunch(executable, stream), 0);
    EXPECT_EQ(first_bytes(out.bytes(e.room())), first_bytes(right));
    const std::vector<const void*> shifted{static_cast<const std::byte*>(in.pointers[0]) + 4};
    EXPECT_NE(e.launch(model, shifted, out.pointers, stream), 0);
    EXPECT_TRUE(has(e.error(model), "must begin at a multiple of 64 bytes")) << e.error(model);
    EXPECT_NE(e.launch(model, {nullptr}, out.pointers, stream), 0);
  }
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuStreamDestroy_v2(stream);
  e.destroy(model);
}

TEST_F(CxxCuda, OtherCardsGetThePortableBuild) {
  const Exported& e = sharing();
  void* model = e.create();
  EXPECT_EQ(e.build(model), "tuned");
  e.destroy(model);
  for (const auto& [major, minor] : {std::pair{8, 6}, {10, 0}, {9, 1}}) {
    fake_cuda::set_capability(major, minor);
    model = e.create();
    ASSERT_NE(model, nullptr);
    EXPECT_EQ(e.build(model), "portable");
    e.destroy(model);
    std::string error;
    EXPECT_EQ(e.create(&error, -1, "tuned"), nullptr);
    EXPECT_TRUE(has(error, "needs compute capability 9.0 (sm_90a; it has " + std::to_string(major))) << error;
  }
  std::string error;
  EXPECT_EQ(e.create(&error, -1, "fast"), nullptr);
  EXPECT_TRUE(has(error, "give tuned or portable")) << error;
  EXPECT_EQ(e.create(&error, 7), nullptr);
  EXPECT_TRUE(has(error, "cuDeviceGet") && has(error, "nvidia-smi -L")) << error;
}

// Instructions of one kind of card have no PTX for others.
TEST_F(CxxCuda, WhatOneKindOfCardOnlyRunsHasNoPortableBuild) {
  std::string text = kPacks;
  const std::string body = "{ o.workspace[threadIdx.x]";
  text.replace(text.find(body), 1, "{ asm volatile(\"wgmma.fence.sync.aligned;\");");
  const Exported e("for_one", subtractions(), with_text(starter_plan(subtractions(), 1, hopper()), text));
  EXPECT_TRUE(has(e.text("README.md"), "kernels/k000_pointwise.cu is for sm_90a alone: ")) << e.text("README.md");
  EXPECT_FALSE(e.holds("kernels/k000_pointwise.ptx"));
  EXPECT_EQ(first_bytes(e.result()), first_bytes(ByExecutor(e).out));
  std::string error;
  EXPECT_EQ(e.create(&error, -1, "portable"), nullptr);
  EXPECT_TRUE(has(error, "no portable build")) << error;
  fake_cuda::set_capability(8, 0);
  EXPECT_EQ(e.create(&error), nullptr);
  EXPECT_TRUE(has(error, "export the model from a session on such a card")) << error;
  EXPECT_FALSE(has(e.with_fake("./build/selftest .").output, "portable kernels"));
}

TEST_F(CxxCuda, WeightsAreThoseOfTheExport) {
  const Exported& e = sharing();
  std::string bytes = e.text("weights.bin"), error;
  bytes[bytes.size() / 2] ^= 1;
  const TemporaryFolder other;
  EXPECT_EQ(e.create(&error, -1, nullptr, other.write("weights.bin", bytes).c_str()), nullptr);
  EXPECT_TRUE(has(error, "is damaged")) << error;
  EXPECT_EQ(e.create(&error, -1, nullptr, other.write("weights.bin", bytes.substr(1)).c_str()), nullptr);
  EXPECT_TRUE(has(error, "is not the one exported")) << error;
  EXPECT_EQ(e.create(&error, -1, nullptr, (other / "none").c_str()), nullptr);
  EXPECT_TRUE(has(error, "No such file")) << error;
}

// Nothing is computed there, so that it is right on the fake card too.
TEST_F(CxxCuda, ItsProgramsRun) {
  const Exported e("handed_on", handed_on(), starter_plan(handed_on(), 1, hopper()));
  const SubprocessResult right = e.with_fake("./build/selftest . && ./build/example");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  EXPECT_TRUE(has(right.output, "tuned kernels: 0 steps") && has(right.output, "portable kernels: 0 steps") && has(right.output, "graph replays"))
      << right.output;
  EXPECT_FALSE(has(right.output, "WRONG")) << right.output;
  const SubprocessResult elsewhere = e.with_fake("./build/selftest .", "8.6");
  EXPECT_TRUE(elsewhere.exit_code == 0 && has(elsewhere.output, "not on this card, which lacks compute capability 9.0")) << elsewhere.output;
  EXPECT_EQ(e.with_fake("./build/selftest . fast").exit_code, 2);
  EXPECT_EQ(e.with_fake("./build/selftest nowhere").exit_code, 2);
}

// The recorded case ends with an element of the half floats: another last place is rounding, another sign is not.
TEST_F(CxxCuda, TheSelfTestComparesHalfFloatsByTheirSize) {
  const Exported e("halves", handed_on(), starter_plan(handed_on(), 1, hopper()));
  const std::string recorded = e.text("selftest.bin");
  const auto result_with = [&](size_t from_end, int flipped) {
    std::string bytes = recorded;
    bytes[bytes.size() - from_end] = static_cast<char>(bytes[bytes.size() - from_end] ^ flipped);
    std::ofstream(e.file("selftest.bin"), std::ios::binary) << bytes;
    return e.with_fake("./build/selftest .");
  };
  EXPECT_EQ(result_with(2, 0x01).exit_code, 0);
  EXPECT_EQ(result_with(1, 0x80).exit_code, 1);
  EXPECT_EQ(result_with(1, 0x7c).exit_code, 1) << "another exponent";
}

TEST_F(CxxCuda, TheSelfTestNoticesWrongOutputs) {
  const SubprocessResult wrong = sharing().with_fake("./build/selftest .");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.output;
  EXPECT_TRUE(has(wrong.output, "WRONG")) << wrong.output;
}

// By the system's own driver: right where there is a card, told where there is none.
TEST_F(CxxCuda, TheSelfTestRunsOnARealCard) {
  const SubprocessResult r = sharing().shell("./build/selftest .");
  if (r.exit_code == 2) {
    EXPECT_TRUE(has(r.output, "driver")) << r.output;
    GTEST_SKIP() << "this test needs an NVIDIA card: " << r.output;
  }
  EXPECT_EQ(r.exit_code, 0) << r.output;
}

TEST_F(CxxCuda, NeedsNothingButTheLoader) {
  const Exported& e = sharing();
  const std::string needs = e.shell("readelf -d build/libsharing.so | grep NEEDED; readelf -d build/example | grep NEEDED").output;
  EXPECT_FALSE(has(needs, "amdahl") || has(needs, "cuda") || has(needs, "fmt")) << needs;
  EXPECT_EQ(e.shell("cc -std=c99 -pedantic -Wall -Wextra -Werror -Iinclude -c example.c -o /dev/null").output, "");
  EXPECT_EQ(e.shell("nm -D --defined-only build/libsharing.so | grep -v ' A ' | grep -v ' sharing_'").output, "");
  EXPECT_EQ(e.shell("nm --defined-only -g build/libsharing.a 2>/dev/null | grep ' [A-Z] ' | grep -v -e sharing -e DW.ref").output, "");
  // Linked by a C compiler, which brings no library of C++.
  const SubprocessResult installed = e.shell(
      "cmake --install build --prefix \"$PWD/there\" >/dev/null && export PKG_CONFIG_PATH=$(dirname $(find \"$PWD/there\" -name '*.pc')) && "
      "cc example.c -o linked $(pkg-config --cflags --static --libs sharing | sed 's/-lsharing/-l:libsharing.a/') && ldd linked");
  EXPECT_EQ(installed.exit_code, 0) << installed.output;
  EXPECT_FALSE(has(installed.output, "stdc++")) << installed.output;
  for (const char* file : {"README.md", "include/sharing.h", "src/model.cpp", "src/cuda_driver.h", "selftest.cpp", "CMakeLists.txt", "cmake/kernels.cmake"})
    EXPECT_FALSE(std::regex_search(e.text(file), std::regex("@[A-Z_]+@"))) << file;
}

}  // namespace
}  // namespace amdahl

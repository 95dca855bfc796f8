// The onnxruntime format without ONNX Runtime: the library is built, loaded by a stand-in that plays the runtime's side, and its
// operators compute the model. With AMDAHL_ONNXRUNTIME_PYTHON=PYTHON the real one runs the self-test too (exporter_test.cc).

#include "export/onnxruntime.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/subprocess.h"
#include "graph/models/builders.h"
#include "graph/oracle.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/export/fake_onnxruntime.h"
#include "tests/export/products_and_short_steps.h"
#include "tests/export/self_test_of.h"
#include "tests/graph/temporary_folder.h"
#include "tests/plan/made_plans.h"

namespace amdahl {
namespace {

using testing::FakeOnnxRuntime;
using testing::self_test_of;
using testing::TemporaryFolder;

double relative_norm(const Tensor& got, const Tensor& want) {
  const std::vector<double> g = to_doubles(got), w = to_doubles(want);
  double difference = 0, size = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    difference += (g[i] - w[i]) * (g[i] - w[i]);
    size += w[i] * w[i];
  }
  return std::sqrt(difference / size);
}

// An export in a folder of its own, built without any header of ONNX Runtime.
class Exported {
 public:
  Exported(const std::string& name, Graph graph, Plan plan) : graph_(std::move(graph)), plan_(std::move(plan)), test_(self_test_of(graph_)), name_(name) {
    write_onnxruntime({graph_, plan_, name, folder_.str(), test_, 1.0, "a test"});
    const SubprocessResult built = build();
    EXPECT_EQ(built.exit_code, 0) << built.output.substr(0, 3000);
    EXPECT_EQ(built.output.find("warning"), std::string::npos) << built.output.substr(0, 3000);
  }

  SubprocessResult build(const std::string& options = "") const {
    return run_subprocess({"sh", "-c", "cd '" + folder_.str() + "' && cmake -S . -B build -G Ninja " + options + " && cmake --build build -j2"}, {300});
  }
  const TemporaryFolder& folder() const { return folder_; }
  std::string library() const { return folder_ / ("lib" + name_ + "_onnxruntime.so"); }
  std::string model() const { return folder_ / (name_ + ".onnx"); }

  template <typename F>
  F* exported(const std::string& function) const {
    return reinterpret_cast<F*>(dlsym(dlopen(library().c_str(), RTLD_NOW), (name_ + "_" + function).c_str()));
  }

  // The largest of the outputs' distances from the float64 reference, in limits of the self-test: right is at most 1.
  double distance(const FakeOnnxRuntime::Session& session) const {
    FakeOnnxRuntime::Values given;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) given[graph_.value(graph_.inputs[i]).name] = test_.inputs[i];
    const FakeOnnxRuntime::Values got = session.run(given);
    double largest = 0;
    for (size_t o = 0; o < graph_.outputs.size(); ++o) {
      const Value& output = graph_.value(graph_.outputs[o]);
      EXPECT_EQ(got.at(output.name).shape(), output.shape);
      largest = std::max(largest, relative_norm(got.at(output.name), test_.expected[o]) / (2 * test_.relative_norm));
    }
    return largest;
  }
  void expect_right(const FakeOnnxRuntime::Session& session) const { EXPECT_LE(distance(session), 1); }

  // Every step so often since the last look, by this build and not by the other.
  void expect_engaged(bool tuned, uint64_t runs) {
    const auto engagement = exported<void(int, uint64_t*, uint64_t*)>("engagement");
    const int steps = exported<int()>("step_count")();
    EXPECT_EQ(static_cast<size_t>(steps), plan_.steps.size());
    seen_.resize(static_cast<size_t>(steps));
    for (int s = 0; s < steps; ++s) {
      std::pair<uint64_t, uint64_t> now;
      engagement(s, &now.first, &now.second);
      auto& before = seen_[static_cast<size_t>(s)];
      EXPECT_EQ(now.first - before.first, tuned ? runs : 0) << "step " << s;
      EXPECT_EQ(now.second - before.second, tuned ? 0 : runs) << "step " << s;
      before = now;
    }
  }

 private:
  TemporaryFolder folder_;
  Graph graph_;
  Plan plan_;
  SelfTestCase test_;
  std::string name_;
  std::vector<std::pair<uint64_t, uint64_t>> seen_;
};

class OnnxRuntimeExport : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxRuntimeExport, ComputesTheModelInBothBuildsAndSeveralSessionsAtOnce) {
  const Graph graph = find_shipped_model(GetParam())->build({});
  Exported made("mini", graph, starter_plan(graph, 2, cpu_target()));
  FakeOnnxRuntime runtime;
  ASSERT_EQ(runtime.load(made.library()), "");
  const FakeOnnxRuntime::Session first(runtime, made.model()), second(runtime, made.model());
  made.expect_right(first);
  made.expect_engaged(true, 1);

  std::vector<std::thread> threads;
  for (const auto* session : {&first, &first, &second}) threads.emplace_back([&made, session] { made.expect_right(*session); });
  for (std::thread& t : threads) t.join();
  made.expect_engaged(true, 3);

  EXPECT_FALSE(made.exported<int(const char*)>("use_build")("fast"));
  ASSERT_TRUE(made.exported<int(const char*)>("use_build")("portable"));
  made.expect_right(FakeOnnxRuntime::Session(runtime, made.model()));
  made.expect_engaged(false, 1);
}

INSTANTIATE_TEST_SUITE_P(Minis, OnnxRuntimeExport, ::testing::Values("gpt2-mini", "mobilenet-mini", "resnet50-mini"), [](const auto& info) {
  std::string n = info.param;
  std::replace(n.begin(), n.end(), '-', '_');
  return n;
});

Graph conv_between_views() {
  ExampleGraph g("views");
  const ValueId x = g.input({1, 20, 6 * 6});
  const ValueId image = g.node("Reshape", {x, g.ints({4}, {1, 20, 6, 6})});
  const ValueId y = g.node("Conv", {image, g.normal({24, 20, 3, 3}, 1)});
  return g.finish({y, g.node("Reshape", {y, g.ints({2}, {24, 16})}), g.node("Reshape", {x, g.ints({1}, {720})})});
}

// One storage under two shapes, at the input, between steps and at the outputs; and an output that is the input.
TEST(OnnxRuntimeExport, ViewsNeedNoStepOfTheirOwn) {
  const Graph graph = conv_between_views();
  const Plan plan = starter_plan(graph, 2, cpu_target());
  Exported made("views", graph, plan);
  FakeOnnxRuntime runtime;
  ASSERT_EQ(runtime.load(made.library()), "");
  made.expect_right(FakeOnnxRuntime::Session(runtime, made.model()));
  made.expect_engaged(true, 1);
}

// One bit of the first weight, of the last: neither is computed with, whether a kernel packs it or reads it as it comes.
TEST(OnnxRuntimeExport, DamagedWeightsAreRefused) {
  const Graph graph = conv_between_views();
  Exported made("views", graph, starter_plan(graph, 2, cpu_target()));
  FakeOnnxRuntime runtime;
  ASSERT_EQ(runtime.load(made.library()), "");
  const std::string data = made.model() + ".data";
  for (const std::streamoff at : {std::streamoff{0}, static_cast<std::streamoff>(24 * 20 * 9 * 4 - 1)}) {
    const auto flip = [&] {
      std::fstream weights(data, std::ios::binary | std::ios::in | std::ios::out);
      weights.seekg(at);
      const int byte = weights.get();
      weights.seekp(at);
      weights.put(static_cast<char>(byte ^ 1));
    };
    flip();
    try {
      FakeOnnxRuntime::Session(runtime, made.model());
      ADD_FAILURE() << "byte " << at;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("are damaged"), std::string::npos) << error.what();
    }
    flip();
    made.expect_right(FakeOnnxRuntime::Session(runtime, made.model()));
  }
}

// One storage under two shapes and a value that is read inside its part and outside.
TEST(OnnxRuntimeExport, ShortStepsShareANodeWithTheirNeighbours) {
  const Graph graph = testing::products_and_short_steps();
  const Plan plan = starter_plan(graph, 2, cpu_target());
  Exported made("parts", graph, plan);
  FakeOnnxRuntime runtime;
  ASSERT_EQ(runtime.load(made.library()), "");
  const FakeOnnxRuntime::Session session(runtime, made.model());
  made.expect_right(session);
  made.expect_engaged(true, 1);
}

// Tensors and weights in channel blocks, as tuned plans of convolutions have them.
TEST(OnnxRuntimeExport, ChannelBlocksPassBetweenSteps) {
  ExampleGraph g("blocks");
  const Graph graph = g.finish({g.node("Relu", {g.input({1, 20, 6, 6})})});
  const auto plan = testing::on_blocks(graph, false);
  ASSERT_TRUE(plan.has_value());
  Exported made("blocks", graph, *plan);
  FakeOnnxRuntime runtime;
  ASSERT_EQ(runtime.load(made.library()), "");
  made.expect_right(FakeOnnxRuntime::Session(runtime, made.model()));
}

TEST(OnnxRuntimeExport, RefusesAnOldRuntimeAndTheModelOfAnotherExport) {
  ExampleGraph g("one"), h("one");
  const Graph graph = g.finish({g.node("Relu", {g.input({4, 6})})}), other = h.finish({h.node("Relu", {h.input({4, 7})})});
  Exported made("one", graph, starter_plan(graph, 1, cpu_target()));
  FakeOnnxRuntime old(15);
  const std::string refused = old.load(made.library());
  EXPECT_NE(refused.find("ONNX Runtime 1.99.0-fake"), std::string::npos) << refused;
  EXPECT_NE(refused.find("use 1.16 or newer"), std::string::npos) << refused;

  FakeOnnxRuntime runtime;
  ASSERT_EQ(runtime.load(made.library()), "");
  const TemporaryFolder elsewhere;
  write_onnxruntime({other, starter_plan(other, 1, cpu_target()), "one", elsewhere.str(), self_test_of(other), 1.0, "a test"});
  try {
    FakeOnnxRuntime::Session(runtime, elsewhere / "one.onnx");
    FAIL() << "a model of another export was taken";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("different exports"), std::string::npos) << e.what();
  }
}

TEST(OnnxRuntimeExport, AGivenHeaderMustHaveTheFunctionsInTheSamePlaces) {
  ExampleGraph g("one");
  const Graph graph = g.finish({g.node("Relu", {g.input({4, 6})})});
  const Exported made("one", graph, starter_plan(graph, 1, cpu_target()));
  const std::string option = "-DONNXRUNTIME_INCLUDE_DIR=\"$PWD\"";
  const SubprocessResult none = made.build(option);
  EXPECT_NE(none.output.find("there is no onnxruntime_c_api.h"), std::string::npos) << none.output;
  std::ifstream in(made.folder() / "src/onnxruntime_interface.h");
  std::string header{std::istreambuf_iterator<char>(in), {}};
  made.folder().write("onnxruntime_c_api.h", header);
  EXPECT_EQ(made.build(option).exit_code, 0);
  const std::string gap = "places_87_to_89[3]";
  ASSERT_NE(header.find(gap), std::string::npos);
  made.folder().write("onnxruntime_c_api.h", header.replace(header.find(gap), gap.size(), "places_87_to_90[4]"));
  const SubprocessResult moved = made.build(option);
  EXPECT_NE(moved.exit_code, 0);
  EXPECT_NE(moved.output.find("KernelContext_GetInput"), std::string::npos) << moved.output.substr(0, 2000);
}

}  // namespace
}  // namespace amdahl

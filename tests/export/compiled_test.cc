// Plans as they were compiled: run from C with nothing of ours, from several threads, after fork(); and refused where they are damaged or cannot run.

#include "export/compiled.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/machine.h"
#include "export/compiled_templates/amdahl_plan.h.in"
#include "export/plan_library/compiled_plan.h"
#include "graph/models/builders.h"
#include "plan/index_limit.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/kinds/problem.h"
#include "tests/export/self_test_of.h"
#include "tests/export/use_compiled.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using testing::self_test_of;

// Reads selftest.bin and says how far each output is: arguments are the sizes of inputs, "-", and those of outputs, in bytes.
constexpr const char* kProgram = R"(
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "amdahl_plan.h"
int main(int argc, char** argv) {
  char error[512];
  void *in[8], *out[8], *want[8];
  size_t size[8];
  int i, n = 0, m = 0, bad = 0;
  FILE* file = fopen("selftest.bin", "rb");
  amdahl_plan* plan = amdahl_plan_load(".", NULL, error, sizeof error);
  if (!plan) return puts(error), 1;
  for (i = 1; strcmp(argv[i], "-"); ++i, ++n) in[n] = malloc(atol(argv[i])), fread(in[n], 1, atol(argv[i]), file);
  for (++i; i < argc; ++i, ++m) size[m] = atol(argv[i]), out[m] = malloc(size[m]), want[m] = malloc(size[m]), fread(want[m], 1, size[m], file);
  if (fgetc(file) != EOF) return puts("selftest.bin is longer"), 1;
  bad = amdahl_plan_run(plan, (const void* const*)in, out);
  for (i = 0; i < m; ++i) {
    double d = 0, s = 0;
    size_t k;
    for (k = 0; k < size[i] / 4; ++k) {
      double g = ((float*)out[i])[k], w = ((float*)want[i])[k];
      d += (g - w) * (g - w), s += w * w;
    }
    printf("relative norm %.2e\n", sqrt(d / s));
    bad |= !(sqrt(d / s) < 1e-5);
  }
  amdahl_plan_free(plan);
  return bad;
}
)";

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CompiledPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-compiled-" + std::to_string(getpid()));
    fs::remove_all(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  void write(const Graph& graph, int threads = 2) {
    graph_ = graph;
    test_ = self_test_of(graph_);
    write_compiled({graph_, starter_plan(graph_, threads, cpu_target()), "m", dir_, test_, 1.0, "a test"});
  }
  void write_mini() { write(find_shipped_model("gpt2-mini")->build({})); }

  void edit_plan(const std::function<void(Json&)>& edit) const {
    Json plan = Json::parse(read_text(dir_ / "plan.json"));
    edit(plan);
    std::ofstream(dir_ / "plan.json") << plan;
  }
  std::string refusal() const {
    try {
      CompiledPlan plan(dir_);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  // The outputs' distance from float64; 9 where nothing was computed.
  double error_of(CompiledPlan& plan) const {
    std::vector<const void*> in;
    std::vector<std::vector<float>> outputs;
    std::vector<void*> out;
    for (const Tensor& t : test_.inputs) in.push_back(t.data());
    for (const Tensor& t : test_.expected) outputs.emplace_back(static_cast<size_t>(t.numel()), NAN);
    for (auto& o : outputs) out.push_back(o.data());
    if (plan.run(in.data(), out.data()) != CompiledPlan::Run::kComputed) return 9;
    double difference = 0, size = 0;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const std::vector<double> want = to_doubles(test_.expected[o]);
      for (size_t i = 0; i < want.size(); ++i) {
        difference += std::pow(static_cast<double>(outputs[o][i]) - want[i], 2);
        size += want[i] * want[i];
      }
    }
    return std::sqrt(difference / size);
  }

  fs::path dir_;
  Graph graph_;
  SelfTestCase test_;
};

TEST_F(CompiledPlanTest, ComputesOnTheCallersMemory) {
  write_mini();
  CompiledPlan plan(dir_);
  EXPECT_LT(error_of(plan), 1e-5);
  EXPECT_LT(error_of(plan), 1e-5) << "other memory than in the first run";
}

TEST_F(CompiledPlanTest, OutputsThatNoStepWritesAreThereToo) {
  Graph graph;  // y = relu(x); z is x itself, w is y once more, c a constant
  const ValueId x = graph.add_value("x", DType::kF32, {1, 40}), y = graph.add_value("y", DType::kF32, {1, 40});
  graph.inputs = {x};
  Node relu;
  relu.op = "Relu";
  relu.version = 14;
  relu.inputs = {x};
  relu.outputs = {y};
  graph.nodes.push_back(relu);
  const ValueId c = graph.add_constant("c", from_doubles(DType::kF32, {3}, {1, 2, 3}));
  graph.outputs = {y, x, y, c};
  write(graph, 1);
  CompiledPlan plan(dir_);
  EXPECT_LT(error_of(plan), 1e-6);
}

TEST_F(CompiledPlanTest, AnIndexOutOfRangeComputesNothing) {
  write_mini();
  EXPECT_EQ(index_limit(graph_, graph_.inputs[0]), 307) << "words of the vocabulary";
  CompiledPlan plan(dir_);
  std::vector<int64_t> ids(static_cast<size_t>(test_.inputs[0].numel()), 5);
  std::vector<float> out(static_cast<size_t>(test_.expected[0].numel()), 7);
  const void* in[] = {ids.data()};
  void* outputs[] = {out.data()};
  for (const int64_t bad : {int64_t{-1}, int64_t{307}}) {
    ids.back() = bad;
    EXPECT_EQ(plan.run(in, outputs), CompiledPlan::Run::kBadIndex) << bad;
    EXPECT_EQ(out[0], 7) << "something was written";
  }
  ids.back() = 306;
  EXPECT_EQ(plan.run(in, outputs), CompiledPlan::Run::kComputed);
}

TEST_F(CompiledPlanTest, AWatchedWordThatChangedComputesNothing) {
  write_mini();
  CompiledPlan plan(dir_);
  std::vector<uint32_t> words{1, 2, 3};
  const std::vector<const uint32_t*> watched{&words[0], &words[2]};
  plan.watch(watched);
  EXPECT_LT(error_of(plan), 1e-5);
  words[1] = 9;  // nobody asked for it
  EXPECT_LT(error_of(plan), 1e-5);
  words[2] = 4;
  EXPECT_EQ(error_of(plan), 9) << "it computed";
  words[2] = 3;
  EXPECT_LT(error_of(plan), 1e-5);
  words[2] = 4;
  plan.watch(watched);  // as it is now
  EXPECT_LT(error_of(plan), 1e-5);
}

TEST_F(CompiledPlanTest, ThreadsOfTheCallersWaitForEachOther) {
  write_mini();
  CompiledPlan plan(dir_);
  std::vector<double> worst(4);
  std::vector<std::thread> threads;
  for (double& w : worst)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) w = std::max(w, error_of(plan));
    });
  for (std::thread& t : threads) t.join();
  for (const double w : worst) EXPECT_LT(w, 1e-5);
}

// GCC's OpenMP would wait in the child for a team that is not there.
TEST_F(CompiledPlanTest, AForkedChildComputes) {
  write_mini();
  char error[512] = "";
  amdahl_plan* plan = amdahl_plan_load(dir_.c_str(), nullptr, error, sizeof error);
  ASSERT_NE(plan, nullptr) << error;
  std::vector<float> out(static_cast<size_t>(test_.expected[0].numel())), again(out.size());
  const void* in[] = {test_.inputs[0].data()};
  void *outputs[] = {out.data()}, *others[] = {again.data()};
  ASSERT_EQ(amdahl_plan_run(plan, in, outputs), AMDAHL_PLAN_COMPUTED);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool right = true;
    for (int i = 0; i < 3; ++i) right = right && amdahl_plan_run(plan, in, others) == AMDAHL_PLAN_COMPUTED && again == out;
    amdahl_plan* second = amdahl_plan_load(dir_.c_str(), nullptr, error, sizeof error);  // its kernels pack weights
    right = right && second && amdahl_plan_run(second, in, others) == AMDAHL_PLAN_COMPUTED && again == out;
    _exit(right ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "it waited until the alarm: signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(amdahl_plan_run(plan, in, others), AMDAHL_PLAN_COMPUTED);
  EXPECT_EQ(again, out);
  amdahl_plan_free(plan);
  int code = 0;
  EXPECT_EQ(amdahl_plan_load("/nowhere", &code, error, sizeof error), nullptr);
  EXPECT_EQ(code, static_cast<int>(ExitCode::kIo));
  EXPECT_NE(std::string(error).find("/nowhere/plan.json"), std::string::npos) << error;
}

TEST_F(CompiledPlanTest, RefusesWhatIsDamagedOrOfAnotherProcessor) {
  write_mini();
  EXPECT_EQ(refusal(), "");
  edit_plan([](Json& plan) { plan["features"].push_back("tensor_unit_of_2040"); });
  EXPECT_NE(refusal().find("lacks what the one has that it was compiled for"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("tensor_unit_of_2040"), std::string::npos) << refusal();
  edit_plan([](Json& plan) { plan["features"].erase(plan["features"].size() - 1), plan["format"] = 2; });
  EXPECT_NE(refusal().find("version 2"), std::string::npos) << refusal();
  edit_plan([](Json& plan) { plan["format"] = 1, plan.erase("program"); });
  EXPECT_NE(refusal().find("no compiled plan that is whole"), std::string::npos) << refusal();
  std::ofstream(dir_ / "plan.json") << "{";
  EXPECT_NE(refusal().find("not JSON"), std::string::npos) << refusal();
  fs::remove(dir_ / "plan.json");
  EXPECT_NE(refusal().find("name a folder"), std::string::npos) << refusal();
}

TEST_F(CompiledPlanTest, RefusesOtherWeightsAndMissingKernels) {
  write_mini();
  std::string weights = read_text(dir_ / "weights.bin");
  weights[100] = static_cast<char>(weights[100] ^ 1);
  std::ofstream(dir_ / "weights.bin", std::ios::binary) << weights;
  EXPECT_NE(refusal().find("weights.bin has other bytes"), std::string::npos) << refusal();
  std::ofstream(dir_ / "weights.bin", std::ios::binary) << weights.substr(1);
  EXPECT_NE(refusal().find("weights.bin is of another size"), std::string::npos) << refusal();
  write_mini();
  const fs::path kernel = fs::directory_iterator(dir_ / "kernels")->path();
  fs::resize_file(kernel, fs::file_size(kernel) / 2);
  EXPECT_NE(refusal().find(kernel.filename().string() + " is not there, or cut off"), std::string::npos) << refusal();
  fs::remove_all(dir_ / "kernels");
  EXPECT_NE(refusal().find("is not there, or cut off"), std::string::npos) << refusal();
}

TEST_F(CompiledPlanTest, AnEarlierExportThatIsLoadedGoesOn) {
  write_mini();
  CompiledPlan plan(dir_);
  EXPECT_LT(error_of(plan), 1e-5);
  write_mini();  // over it
  EXPECT_LT(error_of(plan), 1e-5);
}

}  // namespace

void testing::use_compiled(const std::function<SubprocessResult(const std::string&)>& shell, const std::string& dir) {
  const Json plan = Json::parse(read_text(fs::path(dir) / "plan.json"));
  const auto sizes = [](const Json& tensors) {
    std::string text;
    for (const Json& t : tensors) {
      size_t bytes = size_of(dtype_from_name(t.at("dtype").get<std::string>()));
      for (const size_t n : t.at("shape")) bytes *= n;
      text += " " + std::to_string(bytes);
    }
    return text;
  };
  std::ofstream(fs::path(dir) / "use.c") << kProgram;
  const SubprocessResult r =
      shell("cc -w use.c -o use -L. -lamdahl-plan -Wl,-rpath,. -lm && ./use" + sizes(plan.at("inputs")) + " -" + sizes(plan.at("outputs")));
  EXPECT_EQ(r.exit_code, 0) << r.output;
  EXPECT_NE(r.output.find("relative norm"), std::string::npos) << r.output;
  const SubprocessResult needs = shell("ldd libamdahl-plan.so | grep -v -e linux-vdso -e libc.so -e ld-linux -e libdl -e libm.so");
  EXPECT_EQ(needs.output, "") << "the C library is all that it may ask for";
}

}  // namespace amdahl

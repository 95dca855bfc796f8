#include "cli/peers/turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "cli/peers/interpreter.h"
#include "cli/peers/peer_specs.h"
#include "graph/onnx/tensor_io.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

using testing::TemporaryFolder;

TEST(OverOurs, IsTheMedianOfRatiosRoundByRound) {
  // A machine that halves its speed for both is no difference; one round in which the other was held up does not move the middle.
  const Gain g = over_ours({2, 4, 2, 4, 2, 40, 2}, {1, 2, 1, 2, 1, 2, 1});
  EXPECT_NEAR(std::exp(g.log), 2, 1e-12);
  EXPECT_EQ(g.pairs, 7);
  EXPECT_NEAR(std::exp(g.lo), 2, 1e-12);
}

TEST(OverOurs, TakesTheRoundsThatBothHave) {
  const Gain g = over_ours({3, 3}, {1, 1, 100});
  EXPECT_EQ(g.pairs, 2);
  EXPECT_NEAR(std::exp(g.log), 3, 1e-12);
  EXPECT_EQ(over_ours({}, {1, 1}).pairs, 0);
}

TEST(OverOurs, UnderSixRoundsTheIntervalIsAllOfThem) {
  const Gain g = over_ours({1, 2, 3, 4}, {1, 1, 1, 1});
  EXPECT_NEAR(std::exp(g.lo), 1, 1e-12);
  EXPECT_NEAR(std::exp(g.hi), 4, 1e-12);
}

class Difference : public ::testing::Test {
 protected:
  std::string outputs(const std::string& name, const std::vector<std::vector<float>>& tensors) {
    const std::string folder = dir_ / name;
    std::filesystem::create_directories(folder);
    for (size_t i = 0; i < tensors.size(); ++i)
      save_npy(Tensor::of<float>(DType::kF32, {static_cast<int64_t>(tensors[i].size())}, tensors[i]), folder + "/" + std::to_string(i) + ".npy");
    return folder;
  }
  TemporaryFolder dir_;
};

TEST_F(Difference, IsTheLargestRelativeNormOfAllOutputs) {
  EXPECT_EQ(largest_difference(outputs("a", {{3, 4}}), outputs("b", {{3, 4}})), 0);
  EXPECT_NEAR(largest_difference(outputs("c", {{3, 4}, {1, 1.1F}}), outputs("d", {{3, 4}, {1, 1}})), 0.1 / std::sqrt(2), 1e-6);
}

TEST_F(Difference, IsInfiniteWhereOutputsCannotBeThoseOfOneModel) {
  const std::string want = outputs("want", {{1, 2}});
  EXPECT_TRUE(std::isinf(largest_difference(outputs("more", {{1, 2}, {3}}), want)));
  EXPECT_TRUE(std::isinf(largest_difference(outputs("shape", {{1, 2, 3}}), want)));
  EXPECT_TRUE(std::isinf(largest_difference(outputs("nan", {{1, NAN}}), want)));
  EXPECT_EQ(largest_difference(outputs("same nan", {{1, NAN}}), outputs("nan too", {{1, NAN}})), 0);
}

TEST(AskInterpreter, WithoutAnyPythonTheErrorSaysWhatToDo) {
  try {
    ask_interpreter("no-such-python", false, "/nowhere");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo);
    EXPECT_NE(std::string(error.what()).find("--python PROGRAM"), std::string::npos) << error.what();
  }
}

TEST(PeerSpecs, PrecisionsAndFormsAreAddedWhereTheyAreAskedFor) {
  Interpreter python{"py", {{"numpy", "2"}, {"onnxruntime-openvino", "1.20"}, {"openvino", "26"}, {"torch", "3"}}, {{"gpt2", "transformers"}}};
  PeerRequest request;
  request.threads = 3;
  const auto names = [&](const std::vector<std::string>& only = {}) {
    std::vector<std::string> found;
    for (const ArmSpec& spec : peer_specs(python, request, only)) found.push_back(spec.row.arm);
    return found;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{"onnxruntime", "onnxruntime plain", "openvino f32", "pytorch eager f32", "pytorch compiled f32"}));
  EXPECT_EQ(names({"pytorch max-autotune bf16"}), (std::vector<std::string>{"pytorch max-autotune bf16"}));
  request.bf16 = request.max_autotune = true;
  EXPECT_EQ(names().size(), peer_names().size());
}

TEST(PeerSpecs, ThoseThatCannotBeMeasuredSayWhyAndWhatToType) {
  Interpreter python{"py", {{"numpy", "2"}, {"onnxruntime-openvino", "1.20"}, {"torch", "3"}}, {{"gpt2", "transformers"}}};
  PeerRequest request;
  request.no_bf16 = "this CPU has no such product";
  const auto spec = [&](const std::string& arm) { return peer_specs(python, request, {arm}).at(0); };
  EXPECT_EQ(spec("onnxruntime").row.reason, "");
  EXPECT_EQ(spec("onnxruntime").row.version, "1.20") << "a build for something else is a build of it";
  EXPECT_FALSE((Interpreter{"py", {{"torchvision", "1"}}, {}}.version_of("torch")));
  EXPECT_EQ(spec("openvino f32").row.reason, "py has no openvino");
  EXPECT_EQ(spec("openvino f32").row.advice, "py -m pip install openvino");
  EXPECT_EQ(spec("pytorch eager f32").row.reason, "PyTorch does not read ONNX files");
  EXPECT_EQ(spec("pytorch eager f32").row.advice, "--torch FILE gives its own definition");
  request.torch = "gpt2";
  EXPECT_EQ(spec("pytorch eager f32").row.advice, "py -m pip install transformers");
  EXPECT_TRUE(spec("pytorch eager f32").own_reference);
  request.torch = "/home/me/saved.pt";
  EXPECT_FALSE(spec("pytorch eager f32").own_reference);
  EXPECT_EQ(spec("pytorch eager bf16").row.reason, request.no_bf16);
  request.torch = "/home/me/made.py";
  EXPECT_TRUE(spec("pytorch eager f32").own_reference);
}

}  // namespace
}  // namespace amdahl

// amdahl run on small models: numbers that have been wrong, and inputs that must be refused, through the real program.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/subprocess.h"
#include "graph/onnx/tensor_io.h"
#include "tests/graph/model_maker.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using testing::ModelMaker;

class RunCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = fs::temp_directory_path() / ("amdahl-run-" + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  static void TearDownTestSuite() { fs::remove_all(dir_); }

  static SubprocessResult run(const ModelMaker& model, const std::vector<std::pair<std::string, Tensor>>& inputs) {
    std::ofstream(dir_ / "model.onnx", std::ios::binary) << model.bytes();
    fs::remove_all(dir_ / "out");
    std::vector<std::string> words{fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl",
                                   "run",
                                   dir_ / "model.onnx",
                                   "-o",
                                   dir_ / "out",
                                   "--cache",
                                   dir_ / "cache",
                                   "--quiet"};
    for (const auto& [name, tensor] : inputs) {
      save_npy(tensor, dir_ / (name + ".npy"));
      words.insert(words.end(), {"--input", name + "=" + (dir_ / (name + ".npy")).string()});
    }
    return run_subprocess(words, {120});
  }
  // Output y.
  static std::vector<double> computed(const ModelMaker& model, const std::vector<std::pair<std::string, Tensor>>& inputs) {
    const SubprocessResult r = run(model, inputs);
    EXPECT_EQ(r.exit_code, 0) << r.output;
    return r.exit_code == 0 ? to_doubles(load_tensor(dir_ / "out" / "y.npy")) : std::vector<double>{};
  }
  static Tensor floats(Shape shape, const std::vector<double>& values) { return from_doubles(DType::kF32, std::move(shape), values); }
  static Tensor ints(Shape shape, const std::vector<int64_t>& values) { return from_ints(DType::kI64, std::move(shape), values); }

  static inline fs::path dir_;
};

TEST_F(RunCommand, AnIndexOutOfRangeIsNamed) {
  ModelMaker m;
  m.input("i", {"2"}, onnx::TensorProto::INT64).output("y");
  m.initializer("table", {2, 2}, {1, 2, 3, 4});
  m.initializer_i64("one", {1});
  m.node("Add", {"i", "one"}, {"j"});
  m.node("Gather", {"table", "j"}, {"y"}, "look up");
  EXPECT_EQ(computed(m, {{"i", ints({2}, {0, -2})}}), (std::vector<double>{3, 4, 3, 4}));
  const SubprocessResult r = run(m, {{"i", ints({2}, {0, 6})}});
  EXPECT_EQ(r.exit_code, static_cast<int>(ExitCode::kBadInput)) << r.output;
  EXPECT_EQ(r.output, "amdahl: node 'look up' (Gather): 'j' holds index 7 into 'table' of shape [2, 2]; it must lie in [-2, 1]\n");
  EXPECT_FALSE(fs::exists(dir_ / "out"));
}

TEST_F(RunCommand, PaddingOfAGivenOutputShape) {
  ModelMaker m;
  m.input("x", {"1", "1", "3"}).output("y");
  m.initializer("w", {1, 1, 3}, {1, 10, 100});
  auto&& node = m.node("ConvTranspose", {"x", "w"}, {"y"});
  testing::set_ints(node, "strides", {2});
  testing::set_ints(node, "output_shape", {6});
  EXPECT_EQ(computed(m, {{"x", floats({1, 1, 3}, {1, 2, 3})}}), (std::vector<double>{10, 102, 20, 203, 30, 300}));
}

TEST_F(RunCommand, EinsumOfOneOperand) {
  ModelMaker m;
  m.input("x", {"2", "2", "3"}).output("y");
  testing::set_string(m.node("Einsum", {"x"}, {"y"}), "equation", "iij->j");
  EXPECT_EQ(computed(m, {{"x", floats({2, 2, 3}, {1, 2, 3, 0, 0, 0, 0, 0, 0, 10, 20, 30})}}), (std::vector<double>{11, 22, 33}));
}

TEST_F(RunCommand, AProductOverNothing) {
  ModelMaker m;
  m.input("a", {"2", "0"}).input("b", {"0", "2"}).output("y");
  m.initializer("c", {2}, {1, -2});
  testing::set_float(m.node("Gemm", {"a", "b", "c"}, {"y"}), "beta", 2);
  EXPECT_EQ(computed(m, {{"a", floats({2, 0}, {})}, {"b", floats({0, 2}, {})}}), (std::vector<double>{2, -4, 2, -4}));
}

TEST_F(RunCommand, AttributesThatAreNotFinite) {
  const double inf = HUGE_VAL;
  ModelMaker gemm;
  gemm.input("x", {"1", "2"}).output("y");
  gemm.initializer("w", {2, 2}, {1, -1, 1, -1});
  testing::set_float(gemm.node("Gemm", {"x", "w"}, {"y"}), "alpha", HUGE_VALF);
  EXPECT_EQ(computed(gemm, {{"x", floats({1, 2}, {1, 2})}}), (std::vector<double>{inf, -inf}));
  ModelMaker norm;
  norm.input("x", {"1", "2"}).output("y");
  norm.initializer("scale", {2}, {1, 1});
  norm.initializer("bias", {2}, {3, 4});
  testing::set_float(norm.node("LayerNormalization", {"x", "scale", "bias"}, {"y"}), "epsilon", HUGE_VALF);
  EXPECT_EQ(computed(norm, {{"x", floats({1, 2}, {1, 2})}}), (std::vector<double>{3, 4}));
}

}  // namespace
}  // namespace amdahl

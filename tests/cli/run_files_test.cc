// `amdahl run`: which tensors are meant by --input, and what outputs are called.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/subprocess.h"
#include "graph/onnx/tensor_io.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using testing::ModelMaker;
using testing::TemporaryFolder;

class Run : public ::testing::Test {
 protected:
  SubprocessResult run(ModelMaker& model, std::vector<std::string> inputs) const {
    std::vector<std::string> argv{fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl",
                                  "run",
                                  dir_.write("m.onnx", model.bytes()),
                                  "-o",
                                  dir_ / "out",
                                  "--cache",
                                  cache_.str(),
                                  "--quiet"};
    for (const std::string& input : inputs) argv.insert(argv.end(), {"--input", input});
    return run_subprocess(argv, {120});
  }
  std::string tensor(const std::string& name, const std::vector<double>& values) const {
    save_npy(from_doubles(DType::kF32, {static_cast<int64_t>(values.size())}, values), dir_ / name);
    return dir_ / name;
  }
  std::vector<double> output(const std::string& file) const { return to_doubles(load_tensor(dir_ / "out/" + file)); }
  int outputs() const { return static_cast<int>(std::distance(fs::directory_iterator(dir_ / "out"), fs::directory_iterator())); }

  TemporaryFolder dir_;
  static inline TemporaryFolder cache_;
};

TEST_F(Run, EveryOutputHasAFileOfItsOwn) {
  ModelMaker m;
  m.input("x", {"2"}).output("a/b").output("a_b").output("ä").output("ö").output(std::string(300, 'y'));
  m.initializer("k", {}, {10});
  m.node("Neg", {"x"}, {"a/b"});
  m.node("Abs", {"x"}, {"a_b"});
  m.node("Mul", {"x", "k"}, {"ä"});
  m.node("Add", {"x", "k"}, {"ö"});
  m.node("Sub", {"x", "k"}, {std::string(300, 'y')});
  const SubprocessResult r = run(m, {"x=" + tensor("x.npy", {1, -2})});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_EQ(outputs(), 5);
  EXPECT_EQ(output("a_b-2.npy"), (std::vector<double>{-1, 2}));
  EXPECT_EQ(output("a_b.npy"), (std::vector<double>{1, 2}));
  EXPECT_EQ(output("ä.npy"), (std::vector<double>{10, -20}));
  EXPECT_EQ(output("ö.npy"), (std::vector<double>{11, 8}));
  EXPECT_EQ(output(std::string(251, 'y') + ".npy"), (std::vector<double>{-9, -12}));
}

TEST_F(Run, TheLongestNameThatIsAnInputCounts) {
  ModelMaker m;
  m.input("a=b", {"2"}).input("a", {"2"}).output("y");
  m.node("Sub", {"a=b", "a"}, {"y"});
  const SubprocessResult r = run(m, {"a=b=" + tensor("x=1.npy", {5, 6}), "a=" + tensor("z.npy", {1, 2})});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_EQ(output("y.npy"), (std::vector<double>{4, 4}));
}

ModelMaker with_default(int ir) {
  ModelMaker m;
  m.proto.set_ir_version(ir);
  m.input("x", {"2"}).input("w", {"2"}).output("y");
  m.initializer("w", {2}, {2, 3});
  m.node("Mul", {"x", "w"}, {"y"});
  return m;
}

TEST_F(Run, ADefaultCanBeReplaced) {
  ModelMaker m = with_default(8);
  const std::string x = "x=" + tensor("x.npy", {1, 10});
  SubprocessResult r = run(m, {x});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_EQ(output("y.npy"), (std::vector<double>{2, 30}));
  r = run(m, {x, "w=" + tensor("w.npy", {5, 7})});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_EQ(output("y.npy"), (std::vector<double>{5, 70}));
  r = run(m, {x, "w=" + tensor("w.npy", {5, 7, 9})});
  EXPECT_EQ(r.exit_code, static_cast<int>(ExitCode::kBadInput)) << r.output;
  EXPECT_NE(r.output.find("w has shape"), std::string::npos) << r.output;
}

// Up to IR 3 every weight was listed so.
TEST_F(Run, AConstantOfAnOldFileIsCalledOne) {
  ModelMaker m = with_default(3);
  const SubprocessResult r = run(m, {"x=" + tensor("x.npy", {1, 10}), "w=" + tensor("w.npy", {5, 7})});
  EXPECT_EQ(r.exit_code, static_cast<int>(ExitCode::kBadInput)) << r.output;
  EXPECT_NE(r.output.find("no input w (it is a constant here"), std::string::npos) << r.output;
}

}  // namespace
}  // namespace amdahl

// Several shapes in one session: tuned together, run by the shape of what is given, exported as one library that computes
// shapes between them where that is right, and says so where it is not.

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/subprocess.h"
#include "cli/find_padding.h"
#include "cli/make_self_test.h"
#include "cli/prepare_model.h"
#include "experiments/bucket_times.h"
#include "graph/onnx/tensor_io.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

using testing::ModelMaker;
using testing::TemporaryFolder;

constexpr double kLimit = 3e-6;  // what starter plans of these models stay within

PaddingFinding padding_of(const std::string& model, const std::vector<BucketSizes>& sizes, const std::string& cache) {
  GlobalOptions global;
  global.quiet = true;
  global.cache_dir = cache;
  const Graph graph = load_buckets(model, sizes);
  return find_padding({model, sizes, graph, starter_plan(graph, 1, cpu_target())}, kLimit, global);
}

std::vector<BucketSizes> two_lengths() {
  std::vector<BucketSizes> sizes{{"8", {}}, {"16", {}}};
  sizes[0].options.seq = 8;
  sizes[1].options.seq = 16;
  return sizes;
}

TEST(Padding, IsRightWhereElementsDoNotSeeWhatComesAfterThem) {
  TemporaryFolder cache;
  const PaddingFinding causal = padding_of("builtin:gpt2-mini", two_lengths(), cache.str());
  EXPECT_EQ(causal.refusal, "");
  ASSERT_EQ(causal.cases.size(), 2u);  // 4 and 12
  EXPECT_EQ(causal.cases[0].inputs[0].shape(), (Shape{1, 4}));
  EXPECT_EQ(causal.cases[1].expected[0].shape()[1], 12);
}

// A softmax over the axis that is padded sums over the zeros too.
TEST(Padding, IsRefusedWhereEveryElementSeesAllOthers) {
  TemporaryFolder dir;
  ModelMaker m;
  m.input("x", {"1", "n"}).output("y");
  m.node("Softmax", {"x"}, {"y"});
  std::vector<BucketSizes> sizes{{"8", {}}, {"16", {}}};
  sizes[0].options.input_shapes["x"] = {1, 8};
  sizes[1].options.input_shapes["x"] = {1, 16};
  const PaddingFinding finding = padding_of(dir.write("m.onnx", m.bytes()), sizes, dir.str());
  EXPECT_NE(finding.refusal.find("zeros appended"), std::string::npos) << finding.refusal;
  EXPECT_TRUE(finding.cases.empty());
}

TEST(Padding, IsRefusedWhereAnOutputsSizeFollowsNoInput) {
  TemporaryFolder dir;
  ModelMaker m;
  m.input("x", {"n"}).output("y");
  auto* axis = m.node("Concat", {"x", "x"}, {"y"}).add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(0);
  std::vector<BucketSizes> sizes{{"4", {}}, {"6", {}}};
  sizes[0].options.input_shapes["x"] = {4};
  sizes[1].options.input_shapes["x"] = {6};
  EXPECT_NE(padding_of(dir.write("m.onnx", m.bytes()), sizes, dir.str()).refusal.find("follows no"), std::string::npos);
}

// The programs, as a user starts them.
class Shapes : public ::testing::Test {
 protected:
  SubprocessResult amdahl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl");
    arguments.insert(arguments.end(), {"--cache", dir_ / "cache", "--quiet"});
    return run_subprocess(arguments, {300});
  }
  SubprocessResult in_export(const std::string& command) { return run_subprocess({"sh", "-c", "cd " + (dir_ / "out") + " && " + command}, {300}); }

  TemporaryFolder dir_;
};

TEST_F(Shapes, OneSessionTunesRunsAndExportsAllOfThem) {
  const std::string session = dir_ / "s.amdahl";
  const SubprocessResult tuned =
      amdahl({"tune", "builtin:gpt2-mini", "--seq", "{8,16}", "--experiments", "2", "--threads", "1", "--no-wisdom", "--session", session});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.output;
  EXPECT_NE(tuned.output.find("shape    8: "), std::string::npos) << tuned.output;
  const Json report = Json::parse(amdahl({"report", session, "--json"}).output);
  ASSERT_EQ(report["shapes"].size(), 2u);
  EXPECT_EQ(report["shapes"][0]["name"], "8");
  EXPECT_GT(report["shapes"][0]["padded_ratio"].get<double>(), 0.5);
  EXPECT_GT(report["shapes"][1]["kept_seconds"].get<double>(), 0);

  // The shape of the tensor says which plan runs.
  for (int64_t seq : {8, 16}) {
    save_npy(from_ints(DType::kI64, {1, seq}, std::vector<int64_t>(static_cast<size_t>(seq), 5)), dir_ / "ids.npy");
    const SubprocessResult ran = amdahl({"run", session, "--input", "input_ids=" + (dir_ / "ids.npy"), "-o", dir_ / "outputs"});
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_EQ(load_tensor(dir_ / "outputs/logits.npy").shape()[1], seq);
  }
  save_npy(from_ints(DType::kI64, {1, 9}, std::vector<int64_t>(9, 5)), dir_ / "ids.npy");
  const SubprocessResult other = amdahl({"run", session, "--input", "input_ids=" + (dir_ / "ids.npy"), "-o", dir_ / "outputs"});
  EXPECT_EQ(other.exit_code, static_cast<int>(ExitCode::kBadInput));
  EXPECT_NE(other.output.find("input_ids i64 [1, 8]; input_ids i64 [1, 16]"), std::string::npos) << other.output;

  const SubprocessResult one = amdahl({"export", session, "--format", "pytorch", "-o", dir_ / "none"});
  EXPECT_EQ(one.exit_code, static_cast<int>(ExitCode::kUsage));
  EXPECT_NE(one.output.find("--only-shape with one of 8, 16"), std::string::npos) << one.output;
  EXPECT_EQ(amdahl({"export", session, "--format", "pytorch", "--only-shape", "16", "-o", dir_ / "one"}).exit_code, 0);
  EXPECT_EQ(amdahl({"export", session, "--only-shape", "12", "-o", dir_ / "none"}).exit_code, static_cast<int>(ExitCode::kUsage));

  const SubprocessResult written = amdahl({"export", session, "-o", dir_ / "out"});
  ASSERT_EQ(written.exit_code, 0) << written.output;
  EXPECT_NE(written.output.find("checked at 2"), std::string::npos) << written.output;
  const SubprocessResult built = in_export("cmake -S . -B build -G Ninja && cmake --build build -j2");
  ASSERT_EQ(built.exit_code, 0) << built.output.substr(0, 3000);
  EXPECT_EQ(built.output.find("warning"), std::string::npos) << built.output;
  const SubprocessResult right = in_export("./build/selftest . tuned");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  EXPECT_NE(right.output.find("shape 1,12         by 16"), std::string::npos) << right.output;
  EXPECT_EQ(in_export("cc -std=c99 -pedantic -Wall -Wextra -Werror -Iinclude -c example.c -o /dev/null").output, "");

  // A dispatcher that takes a shape that does not hold the inputs, and outputs that are not the recorded ones, are noticed.
  EXPECT_EQ(in_export("sed -i 's/sizes\\[i\\]\\[a\\] > size)/false)/' src/shapes.cpp && cmake --build build && ./build/selftest . tuned").exit_code, 1);
  EXPECT_EQ(in_export("sed -i 's/|| false)/|| sizes[i][a] > size)/' src/shapes.cpp && cmake --build build && ./build/selftest . tuned").exit_code, 0);
  const SubprocessResult truncated = in_export("truncate -s -64 selftest_shapes.bin && ./build/selftest . tuned");
  EXPECT_EQ(truncated.exit_code, 1) << truncated.output;
  EXPECT_NE(truncated.output.find("truncated"), std::string::npos) << truncated.output;
}

}  // namespace
}  // namespace amdahl

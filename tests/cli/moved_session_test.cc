// A session and its model in other places than they were: a renamed folder, another disk. And names that a shell must not take apart.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/subprocess.h"
#include "experiments/session.h"
#include "graph/onnx/tensor_io.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using testing::ModelMaker;
using testing::TemporaryFolder;

std::string bytes_of_model(float weight) {
  ModelMaker m;
  m.input("x", {"64", "64"}).output("y");
  m.initializer("w", {64}, std::vector<float>(64, weight));
  m.node("Mul", {"x", "w"}, {"t"});
  m.node("Softmax", {"t"}, {"y"});
  return m.bytes();
}

class MovedSession : public ::testing::Test {
 protected:
  // "here dir/models/my model.onnx", tuned from "here dir/s": one experiment.
  static void SetUpTestSuite() {
    dir_ = new TemporaryFolder;
    fs::create_directories(*dir_ / "begun dir/models");
    fs::create_directories(*dir_ / "begun dir/s");
    dir_->write("begun dir/models/my model.onnx", bytes_of_model(2));
    first_ = amdahl({"tune", *dir_ / "begun dir/models/my model.onnx", "--session", *dir_ / "begun dir/s/it's.amdahl", "--experiments", "1", "--no-wisdom"});
    ASSERT_EQ(first_.exit_code, 0) << first_.output;
  }
  static void TearDownTestSuite() { delete dir_; }
  void SetUp() override {
    fs::remove_all(*dir_ / "now");
    fs::create_directories(*dir_ / "now");
  }
  static SubprocessResult amdahl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl");
    arguments.insert(arguments.end(), {"--cache", *dir_ / "cache", "--quiet"});
    return run_subprocess(arguments, {300});
  }
  // The session alone, in a place where nothing else of the old one is.
  static std::string session_alone() {
    hide_old_place();
    fs::copy_file(*dir_ / "old/s/it's.amdahl", *dir_ / "now/s.amdahl");
    return *dir_ / "now/s.amdahl";
  }
  static void hide_old_place() {
    if (fs::exists(*dir_ / "begun dir")) fs::rename(*dir_ / "begun dir", *dir_ / "old");
  }
  static SubprocessResult export_of(const std::string& session, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"export", session, "--format", "json", "-o", *dir_ / "now/an export"});
    return amdahl(more);
  }

  static inline TemporaryFolder* dir_ = nullptr;
  static inline SubprocessResult first_;
};

TEST_F(MovedSession, CommandsThatArePrintedAreQuoted) {
  const size_t at = first_.output.find("next ");
  ASSERT_NE(at, std::string::npos) << first_.output;
  EXPECT_NE(first_.output.find("amdahl report '" + (*dir_ / "begun dir/s/it'\\''s.amdahl'"), at), std::string::npos) << first_.output;
}

TEST_F(MovedSession, ItsModelIsFoundWhereItIsAsSeenFromTheSession) {
  hide_old_place();
  fs::copy(*dir_ / "old", *dir_ / "now/tree", fs::copy_options::recursive);
  const SubprocessResult r = export_of(*dir_ / "now/tree/s/it's.amdahl");
  EXPECT_EQ(r.exit_code, 0) << r.output;
}

TEST_F(MovedSession, ItsModelIsFoundBesideTheSession) {
  const std::string session = session_alone();
  dir_->write("now/my model.onnx", bytes_of_model(2));
  EXPECT_EQ(export_of(session).exit_code, 0);
  const SubprocessResult r = amdahl({"resume", session, "--experiments", "2", "--no-wisdom"});
  EXPECT_EQ(r.exit_code, 0) << r.output;
  EXPECT_EQ(Session::open(session, Session::Access::kRead)->identity().model, *dir_ / "now/my model.onnx") << "who writes it keeps the new place";
}

TEST_F(MovedSession, ItsModelCanBeNamed) {
  const std::string session = session_alone();
  const SubprocessResult lost = export_of(session);
  EXPECT_EQ(lost.exit_code, static_cast<int>(ExitCode::kBadModel)) << lost.output;
  for (const char* words : {"my model.onnx", "--model-file FILE", "s.amdahl"}) EXPECT_NE(lost.output.find(words), std::string::npos) << lost.output;
  EXPECT_EQ(std::count(lost.output.begin(), lost.output.end(), '\n'), 1) << lost.output;
  const std::string model = dir_->write("other.onnx", bytes_of_model(2));
  EXPECT_EQ(export_of(session, {"--model-file", model}).exit_code, 0);
  save_npy(from_doubles(DType::kF32, {64, 64}, std::vector<double>(64 * 64, 1)), *dir_ / "x.npy");
  EXPECT_EQ(amdahl({"run", session, "--model-file", model, "--input", "x=" + (*dir_ / "x.npy"), "-o", *dir_ / "now/out"}).exit_code, 0);
  EXPECT_EQ(amdahl({"replay", session, "1", "--source", "--model-file", model}).exit_code, 0);
  // To tune, it is named as ever.
  const SubprocessResult again = amdahl({"tune", model, "--session", session, "--experiments", "2", "--no-wisdom"});
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_EQ(export_of(session).exit_code, 0) << "the new place is kept";
}

TEST_F(MovedSession, AnotherModelIsRefusedWhereverItLies) {
  const std::string session = session_alone();
  const std::string other = dir_->write("now/my model.onnx", bytes_of_model(3));
  const SubprocessResult beside = export_of(session);
  EXPECT_EQ(beside.exit_code, static_cast<int>(ExitCode::kSessionMismatch)) << beside.output;
  EXPECT_EQ(export_of(session, {"--model-file", other}).exit_code, static_cast<int>(ExitCode::kSessionMismatch));
  const SubprocessResult tuned = amdahl({"tune", other, "--session", session, "--experiments", "2", "--no-wisdom"});
  EXPECT_EQ(tuned.exit_code, static_cast<int>(ExitCode::kSessionMismatch)) << tuned.output;
  EXPECT_NE(tuned.output.find("another model"), std::string::npos) << tuned.output;
}

TEST_F(MovedSession, WhatIsPrintedAfterAnExportIsQuoted) {
  const std::string session = session_alone();
  const SubprocessResult r =
      amdahl({"export", session, "--format", "cxx", "-o", *dir_ / "now/an export", "--model-file", dir_->write("m.onnx", bytes_of_model(2))});
  EXPECT_EQ(r.exit_code, 0) << r.output;
  EXPECT_NE(r.output.find("cd '" + (*dir_ / "now/an export") + "' && "), std::string::npos) << r.output;
}

}  // namespace
}  // namespace amdahl

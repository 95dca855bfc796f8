// The live view where there is no terminal, and the page that is kept fresh.

#include "cli/live_view.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "cli/live_page.h"
#include "cli/page_path.h"
#include "experiments/vega.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

Experiment experiment(Outcome outcome, const std::string& stage) {
  Experiment e;
  e.id = 7;
  e.rewrite = "fuse_gelu";
  e.window = "pointwise [8]";
  e.outcome = outcome;
  e.stage = stage;
  e.reason = "because";
  e.gain = {std::log(1.5), std::log(1.4), std::log(1.6), 9};
  return e;
}

TEST(LiveView, WithoutATerminalItWritesPlainLines) {
  ::testing::internal::CaptureStderr();
  {
    LiveView view("m", true);
    TuneStatus status;
    status.phase = "choosing";
    view.on_status(status);
    view.on_status(status);  // too soon for another line
    view.on_experiment(experiment(Outcome::kReverted, "race"));
    view.on_experiment(experiment(Outcome::kInconclusive, "race"));
    view.on_experiment(experiment(Outcome::kWrong, "numerics"));
    view.on_experiment(experiment(Outcome::kKept, "confirm"));
    view.on_note("a note");
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(log.find('\x1b'), std::string::npos) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4) << log;
  for (const char* words : {"choosing", "#7 fuse_gelu on pointwise [8]: wrong: because", "1.50x [1.40, 1.60] proven", "a note"})
    EXPECT_NE(log.find(words), std::string::npos) << words << " in " << log;
}

TEST(LiveView, SilentWhenNotShownButTellsOfChanges) {
  int changes = 0;
  ::testing::internal::CaptureStderr();
  {
    LiveView view("m", false, [&] { ++changes; });
    view.on_status({});
    view.on_experiment(experiment(Outcome::kKept, "confirm"));
    view.on_ledger({});
    view.on_note("a note");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(changes, 3);
}

class Page : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(vega_folder())) GTEST_SKIP() << "no Vega: apt-get install libjs-vega";
    dir_ = fs::temp_directory_path() / ("amdahl-live-" + std::to_string(getpid()));
    fs::create_directories(dir_);
    SessionIdentity identity;
    identity.model = "builtin:gpt2-mini";
    session_ = Session::create(dir_ / "s.amdahl", identity);
  }
  void TearDown() override { fs::remove_all(dir_); }
  std::string page() const {
    std::ifstream in(dir_ / "page.html", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path dir_;
  std::unique_ptr<Session> session_;
};

TEST_F(Page, ReloadsItselfUntilItIsFinished) {
  LivePage live(*session_, dir_ / "page.html");
  EXPECT_NE(page().find("<body data-reload=\"5\">"), std::string::npos);
  fs::remove(dir_ / "page.html");
  live.refresh();
  EXPECT_FALSE(fs::exists(dir_ / "page.html")) << "the last one is young";
  live.finish();
  EXPECT_NE(page().find("<body>"), std::string::npos);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(dir_)) files += entry.path().filename().string().find("page") != std::string::npos;
  EXPECT_EQ(files, 1) << "nothing is left behind";
}

TEST_F(Page, APathThatCannotBeWrittenIsRefusedBeforeTheWork) {
  try {
    LivePage live(*session_, dir_ / "no-such-folder/page.html");
    FAIL() << "it was written";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kIo);
  }
}

// A session, a model or a device that --html names by mistake would be gone.
TEST_F(Page, NothingButAPageIsWrittenOver) {
  std::ofstream(dir_ / "model.onnx") << "\x08\x07 no page";
  for (const fs::path& path : {dir_ / "model.onnx", dir_, fs::path("/dev/null")}) {
    EXPECT_THROW(page_path(path), Error) << path;
    EXPECT_THROW(LivePage(*session_, path), Error) << path;
  }
  EXPECT_EQ(fs::file_size(dir_ / "model.onnx"), 10u);
  fs::create_symlink(dir_ / "real.html", dir_ / "link.html");
  LivePage(*session_, dir_ / "link.html").finish();
  EXPECT_TRUE(fs::is_symlink(dir_ / "link.html"));
  EXPECT_TRUE(fs::is_regular_file(dir_ / "real.html"));
  EXPECT_EQ(page_path(dir_ / "link.html"), (dir_ / "real.html").string());
}

}  // namespace
}  // namespace amdahl

// The page as a browser sees it. Chromium runs once, on a session of 5,000 experiments, and the probe (report_probe.js), which
// is put into a copy of the page, does what a reader would do.

#include "experiments/report_page.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "base/subprocess.h"
#include "experiments/vega.h"
#include "tests/experiments/made_sessions.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(ReportPage, IsOneFileThatFetchesNothing) {
  const std::string page = report_page(report_data(made_session(60), made_identity(), text_of), "/*vega*/");
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_EQ(page.find("{{"), std::string::npos);
  const std::regex fetched(R"re((src=|<link[^>]*href="(?!data:)|@import|url\(|fetch\(|XMLHttpRequest))re");
  std::smatch found;
  EXPECT_FALSE(std::regex_search(page, found, fetched)) << found.str();
}

TEST(ReportPage, WithoutVegaTheErrorNamesItsPackage) {
  try {
    vega_script("/nowhere");
    FAIL() << "it found Vega";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo);
    EXPECT_NE(std::string(error.what()).find("apt-get install libjs-vega"), std::string::npos) << error.what();
  }
}

class ReportInABrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!run_subprocess({"chromium", "--version"}).ok()) GTEST_SKIP() << "no browser: apt-get install chromium";
    if (!fs::exists(kVegaFolder)) GTEST_SKIP() << "no Vega: apt-get install libjs-vega";
    dir_ = fs::temp_directory_path() / ("amdahl-page-" + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  // What the probe wrote, after it has taken the page away.
  Json probe(const MemoryStore& store) {
    std::string page = report_page(report_data(store, made_identity(), text_of), vega_script());
    const std::string script = "<script>" + read_file(fs::path(AMDAHL_SOURCE_DIR) / "tests/experiments/report_probe.js") + "</script>";
    page.insert(page.find("<style>"), script);
    std::ofstream(dir_ / "page.html", std::ios::binary) << page;
    const SubprocessResult r = run_subprocess({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                                               "--user-data-dir=" + (dir_ / "profile").string(), "--window-size=1200,900", "--timeout=15000", "--dump-dom",
                                               "file://" + (dir_ / "page.html").string()},
                                              {60});
    const size_t from = r.output.find("PROBE{"), to = r.output.find("}PROBE");
    EXPECT_TRUE(to != std::string::npos) << r.output.substr(0, 2000);
    return to == std::string::npos ? Json::object() : Json::parse(r.output.substr(from + 5, to - from - 4));
  }
  fs::path dir_;
};

TEST_F(ReportInABrowser, DrawsFiltersSortsAndOpensFiveThousandExperiments) {
  const MemoryStore store = made_session(5000);
  const Json seen = probe(store);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.at("errors"), Json::array()) << seen.dump();
  EXPECT_EQ(seen.at("title"), "Amdahl: gpt2-mini 1.284\u00d7");
  EXPECT_NE(seen.at("facts").get<std::string>().find("strassen in 1 step; outputs 7.0e-7 from float64"), std::string::npos) << seen.at("facts");
  EXPECT_EQ(seen.at("plots"), 4);
  EXPECT_EQ(seen.at("points"), 5000);
  EXPECT_EQ(seen.at("rows"), 50);
  EXPECT_EQ(seen.at("all"), "1\u201350 of 5,000 experiments");
  EXPECT_EQ(seen.at("kept"), "1\u201350 of 100 experiments");
  EXPECT_EQ(seen.at("one"), 1);
  EXPECT_EQ(seen.at("none"), "No experiment matches: clear a filter.");
  EXPECT_EQ(seen.at("dearest"), "descending");
  EXPECT_EQ(seen.at("columns").back(), "Ended at") << "all was written here";
  EXPECT_EQ(seen.at("origins"), Json::array());
  EXPECT_EQ(seen.at("opened"), Json({true, "true", 8, true}));  // row there, aria-expanded, ticks of the strip, a changed line
  // What people are promised. The fastest of three: the first may have met a busy machine.
  double fastest = seen.at("milliseconds").get<double>();
  for (int again = 0; again < 2 && fastest >= 2000; ++again) fastest = std::min(fastest, probe(store).at("milliseconds").get<double>());
  EXPECT_LT(fastest, 2000);
}

// Also where it wins.
TEST_F(ReportInABrowser, TheBestOfOtherRuntimesStandsAtTheTop) {
  MemoryStore store = made_session(110);
  Commit c;
  c.compared = made_comparison(1);
  c.compared[1].reason = "python3 has no onnxruntime";
  c.compared[1].advice = "python3 -m pip install onnxruntime";
  c.state = Json{{"gated", 2}};
  store.commit(c);
  const Json seen = probe(store);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.at("errors"), Json::array()) << seen.dump();
  const std::string claims = seen.at("claims"), peers = seen.at("peers");
  EXPECT_NE(claims.find("Beside other runtimes: OpenVINO 2026.1 is 1.25x [1.20, 1.30] as fast as ours."), std::string::npos) << claims;
  EXPECT_LT(peers.find("OpenVINO"), peers.find("ours, the kept plan")) << peers;
  EXPECT_NE(peers.find("python3 -m pip install onnxruntime"), std::string::npos) << peers;
}

// #100 is the row that the probe opens, #50 the one in the ledger.
TEST_F(ReportInABrowser, ASessionWithKernelsFromOutsideSaysOfEachWhereItCameFrom) {
  MemoryStore store = made_session(110);
  Commit c;
  for (int64_t id : {50, 100}) {
    c.experiments.push_back(made_experiment(id, Outcome::kKept));
    c.experiments.back().origin = "friend.db, 2026-11-27";
  }
  store.commit(c);
  const Json seen = probe(store);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.at("errors"), Json::array()) << seen.dump();
  EXPECT_EQ(seen.at("columns").back(), "Origin");
  const Json origins = seen.at("origins");
  const auto has = [&](const std::string& words) { return std::any_of(origins.begin(), origins.end(), [&](const Json& t) { return t == words; }); };
  EXPECT_TRUE(has("from outside (friend.db, 2026-11-27)")) << origins;
  EXPECT_TRUE(has("#50: from outside (friend.db, 2026-11-27)")) << origins;
}

// A plan profiled last that met a busier hour than the starter plan did, and a headline that shows nothing.
TEST_F(ReportInABrowser, EachPlanHasABarOfItsOwnTime) {
  MemoryStore store = made_session(110);
  Commit c;
  c.profiles = {{3, 2, 0.4, {0.3, 0.1}, {0.1, 0.1}}};
  c.headline = Headline{2, {0.01, -0.01, 0.02, 12}, 0.2, 0.198, 0, 7, {"normal"}};
  store.commit(c);
  const Json seen = probe(store);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.at("errors"), Json::array()) << seen.dump();
  ASSERT_EQ(seen.at("bars").size(), 2u) << seen.at("bars");
  EXPECT_EQ(seen.at("bars")[0][0], "Starter plan: 200 ms.");
  EXPECT_NEAR(seen.at("bars")[0][1].get<double>(), 0.5, 0.02) << "half of the other's";
  EXPECT_EQ(seen.at("bars")[1][0], "Plan profiled last: 400 ms, of which floor 200 ms, above the floor 200 ms.");
  EXPECT_NEAR(seen.at("bars")[1][1].get<double>(), 1, 0.02);
  EXPECT_EQ(seen.at("claim"), "gpt2-mini: level with its starter plan");
  EXPECT_EQ(seen.at("title"), "Amdahl: gpt2-mini level");
}

TEST_F(ReportInABrowser, AnEmptySessionIsAPageThatSaysSo) {
  const Json seen = probe(MemoryStore{});
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.at("errors"), Json::array()) << seen.dump();
  EXPECT_EQ(seen.at("plots"), 0);
  EXPECT_NE(seen.at("text").get<std::string>().find("No gain is confirmed"), std::string::npos);
  EXPECT_NE(seen.at("text").get<std::string>().find("No experiment was run yet"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

// What bench/trust computes from logs, on figures that are known; and that its edits of kernels change nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>

#include "base/error.h"
#include "bench/trust/drawn_again.h"
#include "bench/trust/rival_rules.h"
#include "bench/trust/source_edits.h"
#include "bench/trust/statistics.h"
#include "bench/trust/tables.h"
#include "bench/trust/trial_log.h"
#include "bench/trust/windows.h"
#include "plan/plan.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"

namespace amdahl::trust {
namespace {

TEST(Statistics, StudentTailsAreThoseOfTheTables) {
  EXPECT_NEAR(student_tail(2.228, 10), 0.025, 1e-4);
  EXPECT_NEAR(student_quantile(0.025, 19), 2.0930, 1e-4);
  EXPECT_NEAR(student_tail(-1.0, 1), 0.75, 1e-9);  // Cauchy
}

TEST(Statistics, WelchAndPairedAgreeWithWorkedExamples) {
  EXPECT_NEAR(welch_p({1, 2, 3, 4, 5}, {2, 3, 4, 5, 6}), 0.3466, 1e-4);
  EXPECT_NEAR(paired_p({1, 2, 3}), 0.0742, 1e-4);
}

TEST(Statistics, MannWhitneyIsExact) {
  // Nine against nine: U = 17 is the largest that is significant at 5% two-sided, as in the tables.
  const auto p_of = [](int u) {
    std::vector<double> a, b;
    for (int i = 1; i <= 9; ++i) b.push_back(i);
    for (int i = 0; i < 9; ++i) a.push_back(std::min(9, u - 9 * (8 - i) > 0 ? u - 9 * (8 - i) : 0) + 0.5 + i * 1e-3);
    return mann_whitney_p(a, b);
  };
  EXPECT_LT(p_of(17), 0.05);
  EXPECT_GT(p_of(18), 0.05);
  EXPECT_NEAR(mann_whitney_p({1, 2, 3}, {4, 5, 6}), 0.1, 1e-12);
}

TEST(Statistics, AfterNoHitTheBoundIsTheRuleOfThree) {
  EXPECT_NEAR(upper_bound(0, 300), 3.0 / 300, 1e-4);
  const Share s = share_of(5, 20);
  EXPECT_NEAR(s.lo, 0.0866, 1e-4);
  EXPECT_NEAR(s.hi, 0.4910, 1e-4);
}

LoggedPair pair_with_gain(double gain, double jitter = 1e-3) {
  LoggedPair p;
  for (int i = 0; i < 20; ++i) {
    const double noise = 1 + jitter * (i % 5 - 2);
    p.b.push_back(1e-3 * noise);
    p.a.push_back(1e-3 * noise * std::exp(gain + (i % 2 ? 1e-4 : -1e-4)));
  }
  p.log_ratio = gain;
  return p;
}

TEST(RivalRules, AClearGainIsKeptAndALossIsNot) {
  for (const RivalRule& rule : rival_rules()) {
    for (const auto& claim : rule.decide({pair_with_gain(0.05), pair_with_gain(0.05)})) {
      ASSERT_TRUE(claim.has_value()) << rule.name;
      EXPECT_NEAR(*claim, 0.05, 5e-3) << rule.name;
    }
    for (const auto& claim : rule.decide({pair_with_gain(-0.05), pair_with_gain(-0.05)})) EXPECT_FALSE(claim.has_value()) << rule.name;
  }
}

TEST(RivalRules, AnOffsetOfTheProcessIsTakenForASpeedUpByWhatLooksInsideOnePair) {
  std::map<std::string, size_t> kept;
  for (const RivalRule& rule : rival_rules()) {
    const auto claims = rule.decide({pair_with_gain(0.007, 1e-4), pair_with_gain(0.007, 1e-4)});
    kept[rule.name] = std::count_if(claims.begin(), claims.end(), [](const auto& c) { return c.has_value(); });
  }
  EXPECT_EQ(kept.at("paired t-test x 20, ABBA, one pair of processes"), 2u);
  EXPECT_EQ(kept.at("the same, lower 95% bound above 1%"), 0u);
  EXPECT_EQ(kept.at("single run, at least 1%"), 0u);
}

std::string source_of(const std::string& window) {
  const Plan plan = starter_plan(make_window(window).graph, 2, cpu_target());
  const Variant& starter = plan.steps.at(0).variant;
  return cpu_target().source(starter);
}

std::string sorted(std::string text) {
  std::sort(text.begin(), text.end());
  return text;
}

TEST(SourceEdits, AreTheSameForTheSameSeedAndDifferForAnother) {
  const std::string source = source_of("gemm");
  std::set<std::string> texts, edits;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random once(seed), again(seed);
    const EditedSource edited = no_op_edits(source, once);
    EXPECT_TRUE(edited.text == no_op_edits(source, again).text);
    EXPECT_TRUE(edited.text != source);
    texts.insert(edited.text);
    edits.insert(edited.edits);
  }
  EXPECT_GE(texts.size(), 18u);
  EXPECT_GE(edits.size(), 6u);
}

TEST(SourceEdits, WhatUsesADeclarationStaysBehindIt) {
  const std::string source =
      "constexpr int A = 1;\nconstexpr int B = A + 1;\nstatic int f(int x) {\n  return x + B;\n}\nstatic int g(int x) { return f(x); }\n"
      "constexpr int Z = 7;\n";
  bool moved = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const EditedSource edited = no_op_edits(source, random);
    if (edited.edits.find("comment") != std::string::npos || edited.edits.find("rename") != std::string::npos) continue;
    const auto at = [&](const char* text) { return edited.text.find(text); };
    EXPECT_LT(at("A = 1"), at("B = A"));
    EXPECT_LT(at("B = A"), at("f(int x) {"));
    EXPECT_LT(at("f(int x) {"), at("g(int x)"));
    EXPECT_EQ(sorted(edited.text), sorted(source));
    moved |= at("Z = 7") < at("g(int x)");
  }
  EXPECT_TRUE(moved);
}

TEST(SourceEdits, ConstantsThatCallSomethingAreNotMoved) {
  const std::string source = "void f() {\n  const int a = next();\n  const int b = next();\n  const int c = 1;\n  const int d = 2;\n}\n";
  bool moved = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const EditedSource edited = no_op_edits(source, random);
    if (edited.edits.find("rename") != std::string::npos) continue;
    EXPECT_LT(edited.text.find("a = next"), edited.text.find("b = next"));
    moved |= edited.text.find("d = 2") < edited.text.find("c = 1");
  }
  EXPECT_TRUE(moved);
}

TEST(SourceEdits, ThePlantedTextDiffersInItsNumberOnly) {
  const std::string source = source_of("gelu"), a = with_spin(source, 100), b = with_spin(source, 200);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::inner_product(a.begin(), a.end(), b.begin(), 0, std::plus<>(), std::not_equal_to<>()), 1);
}

// The number is an operand: the instructions are the same, and of each window's kernel. Needs the compiler, no card.
TEST(SourceEdits, TimeIsPlantedInTextsForACard) {
  DeviceInfo card;
  card.features = {"sm_80", "sm_90", "sm_90a"};
  card.units = 132;
  card.l1d_bytes = 228 << 10;
  card.l2_bytes = int64_t{50} << 20;
  const Target target = cuda_target(card);
  std::unique_ptr<const CudaToolchain> toolchain;
  try {
    toolchain = std::make_unique<const CudaToolchain>(default_cache_dir(), target);
  } catch (const Error& error) {
    if (error.code() != ExitCode::kNoCompiler) throw;
    GTEST_SKIP() << error.what();
  }
  for (const std::string& name : window_names()) {
    Variant variant = starter_plan(make_window(name).graph, 1, target).steps.at(0).variant;
    const std::string source = target.source(variant);
    std::set<std::string> codes;
    for (const std::string& text : {source, with_spin_on_card(source, 0), with_spin_on_card(source, 200)}) {
      variant.source_override = text;
      const CompileResult r = toolchain->compile(variant);
      ASSERT_TRUE(r.ok) << name << ": " << r.message;
      codes.insert(toolchain->code_hash(r.library));
    }
    EXPECT_EQ(codes.size(), 3u) << name;
  }
  EXPECT_THROW(with_spin_on_card(source_of("gelu"), 1), Error);
}

TEST(DrawnAgain, WhatTheScanRefusesIsDrawnAgainAndCounted) {
  int drawn = 0;
  EXPECT_EQ(drawn_again([&] { ++drawn; }), 0);
  EXPECT_EQ(drawn_again([&] {
              if (++drawn < 4) throw RefusedByScan("a number reads as a call");
            }),
            2);
  EXPECT_THROW(drawn_again([] { throw Error(ExitCode::kInternal, "does not compile"); }), Error) << "not by chance";
  int refused = 0;
  EXPECT_THROW(drawn_again([&] {
                 ++refused;
                 throw RefusedByScan("whatever is drawn");
               }),
               RefusedByScan);
  EXPECT_EQ(refused, 8);
}

TEST(NullTable, CountsWhatTheScanRefused) {
  Trial measured, twin;
  measured.study = twin.study = "placebo-builds";
  measured.window = twin.window = "gemm";
  measured.refused = 2;
  twin.twin = true;
  twin.refused = 1;
  const std::string table = null_table({Json(measured).get<Trial>(), twin});
  EXPECT_NE(table.find("refused by the scan"), std::string::npos) << table;
  EXPECT_NE(table.find("| gemm | 1 | 3 |"), std::string::npos) << table;
  EXPECT_NE(table.find("| all | 1 | 3 |"), std::string::npos) << table;
  Json older = Json(measured);
  older.erase("refused");
  EXPECT_EQ(older.get<Trial>().refused, 0);
}

TEST(TrialLog, GoesOnBehindTheLastWholeLine) {
  const std::string path = ::testing::TempDir() + "trust_trial_log.jsonl";
  std::remove(path.c_str());
  Trial t;
  t.study = "aa";
  t.window = "gemm";
  t.seed = 0xfedcba9876543210;
  t.stages = {{"prove", {pair_with_gain(0.01)}, 0.3, false}};
  { TrialLog(path).append(t); }
  std::ofstream(path, std::ios::app) << R"({"study":"aa","wind)";
  {
    TrialLog log(path);
    ASSERT_EQ(log.trials().size(), 1u);
    t.number = 1;
    log.append(t);
  }
  const std::vector<Trial> trials = read_trials(path);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[1].number, 1);
  EXPECT_EQ(trials[0].seed, t.seed);
  ASSERT_EQ(trials[0].stages.size(), 1u);
  EXPECT_NEAR(trials[0].stages[0].pairs[0].a[3], t.stages[0].pairs[0].a[3], 1e-9);
  std::remove(path.c_str());
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Document, ListsEveryFailureCode) {
  const std::filesystem::path root = AMDAHL_SOURCE_DIR;
  const std::string document = contents_of(root / "docs/trust.md");
  const std::regex code(R"re((?:[Ff]ailure[({]|return \{)Outcome::k\w+, "([a-z]+(?:-[a-z]+)*)"|\bcode = "([a-z-]+)"|blame\(\w+, "([a-z-]+)")re");
  std::set<std::string> codes;
  for (const char* folder : {"tuner", "starter_kernels"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (file.path().extension() != ".cc" && file.path().extension() != ".h") continue;
      const std::string text = contents_of(file.path());
      for (std::sregex_iterator m(text.begin(), text.end(), code), none; m != none; ++m) codes.insert((*m)[1].str() + (*m)[2].str() + (*m)[3].str());
      // Where one of several is chosen.
      const std::regex choice("const char\\* code = [^;]*;"), word(R"re("([a-z-]+)")re");
      for (std::sregex_iterator m(text.begin(), text.end(), choice), none; m != none; ++m) {
        const std::string line = m->str();
        for (std::sregex_iterator w(line.begin(), line.end(), word); w != none; ++w) codes.insert((*w)[1]);
      }
    }
  EXPECT_GE(codes.size(), 15u);
  for (const std::string& c : codes) EXPECT_NE(document.find("| `" + c + "` |"), std::string::npos) << c << " is not in docs/trust.md: add a row";
}

}  // namespace
}  // namespace amdahl::trust

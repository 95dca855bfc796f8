#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/version.h"

namespace amdahl {
namespace {

// Exit code, stdout and stderr of the program without a process.
struct Ran {
  int code;
  std::string out, err;
};
Ran run(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_amdahl(arguments);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, NoArgumentsShowsTheCommandsAndIsAUsageError) {
  const Ran r = run({});
  EXPECT_EQ(r.code, 2);
  for (const Command* command : commands()) EXPECT_NE(r.out.find(command->name), std::string::npos) << command->name;
}

TEST(CommandLine, VersionSaysWhatWasBuiltWithWhat) {
  const Ran r = run({"--version"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out.rfind("amdahl " + version_number(), 0), 0u) << r.out;
  for (const char* part : {"compiler ", "-march=", "protobuf ", "SQLite ", "schema version"}) EXPECT_NE(r.out.find(part), std::string::npos) << part;
  EXPECT_EQ(run({"version"}).out, r.out);
  EXPECT_EQ(run({"tune", "--version"}).out, r.out) << "whatever else a command needs";
  const auto json = nlohmann::json::parse(run({"--version", "--json"}).out);
  EXPECT_EQ(json.at("version"), version_number());
  for (const char* key : {"commit", "compiler", "libraries"}) EXPECT_TRUE(json.contains(key)) << key;
}

TEST(CommandLine, WhatIsRepeatedOfTheCommandLineIsPrintableAndShort) {
  const Ran r = run({"pro\x1b[2Jfile\n" + std::string(100000, 'x')});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("pro\\x1b[2Jfile"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find('\x1b'), std::string::npos);
  EXPECT_LT(r.err.size(), 5000u);
}

TEST(CommandLine, UnknownCommandNamesTheNearest) {
  const Ran r = run({"profil", "x.onnx"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("did you mean 'profile'"), std::string::npos) << r.err;
  EXPECT_EQ(run({"zzzzzzzz"}).err.find("did you mean"), std::string::npos);
}

TEST(CommandLine, UnknownOptionIsNamedWithTheNearestAndHowToGetHelp) {
  const Ran r = run({"profile", "x.onnx", "--bacth", "2"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("'--bacth'"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("did you mean --batch"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("amdahl profile --help"), std::string::npos) << r.err;
}

TEST(CommandLine, BadValuesAreUsageErrorsOnOneLine) {
  const std::vector<std::vector<std::string>> cases{
      {"profile", "x.onnx", "--threads", "0"},
      {"profile", "x.onnx", "--threads", "many"},
      {"profile", "x.onnx", "--shape", "x"},
      {"profile", "x.onnx", "--shape", "x=1,"},
      {"profile", "x.onnx", "--shape", "x=1,-2"},
      {"profile", "builtin:gpt2-mini", "--batch", "0"},
      {"profile", "x.onnx", "--batch", "2"},
      {"profile", "x.onnx", "--runs", "0"},
      {"profile"},
      {"profile", "a", "b"},
      {"profile", "x.onnx", "--shape"},
      {"models", "no-such-model", "-o", "/tmp/x.onnx"},
      {"run", "builtin:gpt2-mini"},
      {"doctor", "word"},
  };
  for (const auto& arguments : cases) {
    const Ran r = run(arguments);
    EXPECT_EQ(r.code, 2) << testing::PrintToString(arguments) << r.err;
    EXPECT_EQ(r.err.rfind("amdahl: ", 0), 0u) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_EQ(r.out, "");
  }
}

// Refused as the command line is read: nothing of what it names is there.
TEST(CommandLine, NumbersThatNoCommandCanMeanAreRefusedByWhatCanBeGiven) {
  const std::string minutes = "give a number above 0, up to 1000000", threads = "give a whole number from 1 to 1024";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"tune", "none.onnx", "--minutes", "1e300"}, minutes},
      {{"tune", "none.onnx", "--minutes", "1e999"}, minutes},
      {{"tune", "none.onnx", "--minutes", "inf"}, minutes},
      {{"tune", "none.onnx", "--minutes=-1"}, minutes},
      {{"resume", "none.amdahl", "--minutes", "nan"}, minutes},
      {{"resume", "none.amdahl", "--minutes", "0"}, minutes},
      {{"resume", "none.amdahl", "--minutes", "5min"}, minutes},
      {{"resume", "none.amdahl", "--minutes", ""}, minutes},
      {{"tune", "none.onnx", "--experiments", "0"}, "give a whole number from 1 to 1000000000"},
      {{"tune", "none.onnx", "--experiments", "2.5"}, "give a whole number from 1 to 1000000000"},
      {{"tune", "none.onnx", "--seed=-1"}, "give a whole number from 0 to 18446744073709551615"},
      {{"tune", "none.onnx", "--max-error", "nan"}, "give a number above 0, up to 1"},
      {{"tune", "none.onnx", "--threads", "99999999999"}, threads},
      {{"doctor", "--threads", "0"}, threads},
      {{"profile", "none.onnx", "--runs", "100001"}, "give a whole number from 1 to 100000"},
      {{"profile", "none.onnx", "--rows=-3"}, "give a whole number from 1 to 1000000"},
      {{"verify", "none.amdahl", "--pairs", "6"}, "give a whole number from 7 to 10000"},
      {{"replay", "none.amdahl", "1", "--pairs=-1"}, "give a whole number from 0 to 10000"},
      {{"wisdom", "prune", "--older-than", "nan"}, "give a number from 0 to 36525"},
  };
  for (const auto& [arguments, advice] : cases) {
    const Ran r = run(arguments);
    EXPECT_EQ(r.code, 2) << testing::PrintToString(arguments) << r.err;
    EXPECT_EQ(r.err.rfind("amdahl: --", 0), 0u) << "which option: " << r.err;
    EXPECT_NE(r.err.find(": " + advice + ";"), std::string::npos) << testing::PrintToString(arguments) << r.err;
    EXPECT_EQ(r.out, "");
  }
  EXPECT_EQ(run({"resume", "none.amdahl", "--minutes", "1e6", "--experiments", "1000000000"}).code, 11) << "there is no session";
  EXPECT_NE(run({"tune", "none.onnx", "--minutes", "1", "--minutes", "2"}).err.find("more than once"), std::string::npos);
}

TEST(CommandLine, MissingModelFileHasItsOwnExitCode) {
  const Ran r = run({"profile", "/no/such/file.onnx"});
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_NE(r.err.find("/no/such/file.onnx"), std::string::npos);
}

TEST(CommandLine, EveryCommandHasAHelpPage) {
  for (const Command* command : commands()) {
    const Ran r = run({std::string(command->name), "--help"});
    EXPECT_EQ(r.code, 0) << command->name;
    EXPECT_EQ(r.out.rfind("usage: amdahl " + std::string(command->name), 0), 0u) << r.out;
    EXPECT_NE(r.out.find("--json"), std::string::npos);
    EXPECT_NE(r.out.find(command->summary), std::string::npos);
    EXPECT_LE(command->summary.size(), 80u) << command->name;
  }
}

TEST(CommandLine, NearestWordByEditDistance) {
  EXPECT_EQ(nearest("reprot", {"report", "replay"}), "report");
  EXPECT_EQ(nearest("xyz", {"report", "replay"}), "");
}

TEST(ModelOptions, ShapeNamesMayHoldEqualsAndScalarsHaveNoDimensions) {
  EXPECT_EQ(parse_shape("a=b=1,128").first, "a=b");
  EXPECT_EQ(parse_shape("a=b=1,128").second.shapes, (std::vector<Shape>{{1, 128}}));
  EXPECT_EQ(parse_shape("x=").second.shapes, std::vector<Shape>{Shape{}});
}

TEST(ModelOptions, BracesAreTakenTogetherInTurn) {
  const auto shapes = [](const char* text) { return parse_shape_list(text, 0).value_or(ShapeList{}).shapes; };
  EXPECT_EQ(shapes("1,{16,64,128}"), (std::vector<Shape>{{1, 16}, {1, 64}, {1, 128}}));
  EXPECT_EQ(shapes("{1,4},{16,64}"), (std::vector<Shape>{{1, 16}, {4, 64}}));
  for (const char* bad : {"1,{16}", "1,{16,", "{16,64", "16}", "{},1", "{1,2},{1,2,3}", "1,,2", ",1", "1 2", "{1,-2}", "{{1,2}}"})
    EXPECT_FALSE(parse_shape_list(bad, 0).has_value()) << bad;
  EXPECT_FALSE(parse_shape_list("0", 1).has_value());
}

TEST(ModelOptions, BucketsAreNamedByWhatDiffers) {
  const auto names = [](const std::vector<std::string>& arguments) {
    Options options;
    declare_model(options);
    po::variables_map values;
    po::store(po::command_line_parser(arguments).options(options.named).run(), values);
    std::vector<std::string> names;
    for (const BucketSizes& b : read_sizes(values)) names.push_back(b.name);
    return names;
  };
  EXPECT_EQ(names({"--shape", "ids=1,{16,64}", "--shape", "mask=1,{16,64}"}), (std::vector<std::string>{"16", "64"}));
  EXPECT_EQ(names({"--seq", "{8,16}", "--batch", "{1,2}"}), (std::vector<std::string>{"1x8", "2x16"}));
  EXPECT_EQ(names({"--seq", "8"}), (std::vector<std::string>{""}));
  EXPECT_THROW(names({"--seq", "{8,16}", "--batch", "{1,2,3}"}), Error);
  EXPECT_THROW(names({"--seq", "{8,8}"}), Error);
}

}  // namespace
}  // namespace amdahl

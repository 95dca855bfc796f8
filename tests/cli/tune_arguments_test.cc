// What `tune` and `resume` are told: what was given, and what was left open.

#include "cli/tune_arguments.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/number_option.h"

namespace amdahl {
namespace {

po::variables_map parsed(void (*declare)(Options&), const std::vector<std::string>& words) {
  Options options;
  declare(options);
  options.named.add_options()("threads", whole_number(1, 1024));
  po::options_description all;
  all.add(options.named).add(options.words);
  po::variables_map values;
  po::store(po::command_line_parser(words).options(all).positional(options.positional).run(), values);
  return values;
}
TuneArguments tune(const std::vector<std::string>& words) { return read_tune(parsed(declare_tune, words)); }

TEST(TuneArguments, WhatWasNotGivenStaysOpen) {
  const TuneArguments a = tune({"builtin:gpt2-mini"});
  EXPECT_EQ(a.model.model, "builtin:gpt2-mini");
  EXPECT_EQ(a.model.buckets.size(), 1u);
  EXPECT_EQ(a.session, "gpt2-mini.amdahl");
  EXPECT_EQ(a.search.seconds, 0);
  EXPECT_EQ(a.search.experiments, 0);
  EXPECT_FALSE(a.search.html || a.search.wisdom.file || a.search.wisdom.off);
  EXPECT_FALSE(a.threads || a.seed || a.max_error || a.allow_bf16);
}

TEST(TuneArguments, ADefaultThatWasTypedWasGiven) {
  const TuneArguments a = tune({"m.onnx", "--seed", "1", "--max-error", "0.02", "--threads", "3", "--allow", "bf16", "--minutes", "2", "--session", "s"});
  EXPECT_EQ(a.seed, 1u);
  EXPECT_EQ(a.max_error, 0.02);
  EXPECT_EQ(a.threads, 3);
  EXPECT_TRUE(a.allow_bf16);
  EXPECT_EQ(a.search.seconds, 120);
  EXPECT_EQ(a.session, "s");
}

TEST(TuneArguments, WhatMakesNoSenseIsRefused) {
  EXPECT_THROW(tune({}), Error);
  EXPECT_THROW(tune({"m.onnx", "--allow", "fp8"}), Error);
  EXPECT_THROW(tune({"m.onnx", "--wisdom", "w.db", "--no-wisdom"}), Error);
  EXPECT_THROW(tune({"m.onnx", "--shape", "x"}), Error);
  EXPECT_THROW(tune({"m.onnx", "--session", "a.html", "--html", "a.html"}), Error) << "the page would take the session's place";
}

TEST(ResumeArguments, NameTheSessionAndPerhapsItsModel) {
  const auto resume = [](const std::vector<std::string>& words) { return read_resume(parsed(declare_resume, words)); };
  EXPECT_EQ(resume({"s.amdahl"}).model_file, "");
  const ResumeArguments a = resume({"s.amdahl", "--model-file", "m.onnx", "--experiments", "7", "--no-wisdom"});
  EXPECT_EQ(a.session, "s.amdahl");
  EXPECT_EQ(a.model_file, "m.onnx");
  EXPECT_EQ(a.search.experiments, 7);
  EXPECT_TRUE(a.search.wisdom.off);
  EXPECT_THROW(resume({}), Error);
}

}  // namespace
}  // namespace amdahl

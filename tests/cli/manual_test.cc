// What is installed beside the program: the manual page and the completions know every command, option and model.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "base/subprocess.h"
#include "cli/completion.h"
#include "cli/manual_page.h"
#include "cli/option_table.h"
#include "graph/models/builders.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

std::string escaped(std::string_view text) { return std::regex_replace(std::string(text), std::regex("-"), "\\-"); }

TEST(ManualPage, HasEveryCommandWithAllItsOptions) {
  const std::string page = manual_page();
  for (const Command* command : commands()) {
    const size_t at = page.find(".SS amdahl " + escaped(command->name) + " ");
    ASSERT_NE(at, std::string::npos) << command->name;
    const std::string section = page.substr(at, page.find("\n.S", at + 1) - at);
    EXPECT_NE(section.find(escaped(command->summary)), std::string::npos) << command->name;
    for (const OptionRow& row : named_rows(*command))
      EXPECT_NE(section.find("\\fB" + escaped(row.name) + "\\fR"), std::string::npos) << command->name << " " << row.name;
  }
  for (const OptionRow& row : rows_for_every_command()) EXPECT_NE(page.find("\\fB" + escaped(row.name) + "\\fR"), std::string::npos) << row.name;
}

// One code a line in base/error.h.
TEST(ManualPage, HasEveryExitCode) {
  const std::string page = manual_page();
  for (int code = 0; code <= static_cast<int>(ExitCode::kNoDevice); ++code)
    EXPECT_NE(page.find(".TP\n" + std::to_string(code) + "\n"), std::string::npos) << code;
  EXPECT_NE(page.find(".TP\n130\n"), std::string::npos);
}

TEST(ManualPage, FormatsWithoutAWarning) {
  const fs::path file = fs::temp_directory_path() / ("amdahl-" + std::to_string(getpid()) + ".1");
  std::ofstream(file) << manual_page();
  const SubprocessResult r =
      run_subprocess({"sh", "-c", "command -v groff >/dev/null || exit 77; groff -man -Tutf8 -ww -z '" + file.string() + "' 2>&1"}, {60});
  fs::remove(file);
  if (r.exit_code == 77) GTEST_SKIP() << "no groff: apt-get install groff";
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.output, "");
}

TEST(OptionTable, KnowsLettersValuesAndSwitches) {
  const auto find = [](const char* command, const std::string& name) {
    for (const Command* c : commands())
      if (c->name == command)
        for (const OptionRow& row : named_rows(*c))
          if (row.name == name) return row;
    return OptionRow{};
  };
  EXPECT_EQ(find("export", "--output").letter, "-o");
  EXPECT_EQ(find("export", "--output").value, "DIR");
  EXPECT_EQ(find("export", "--format").value, "F") << "without its default";
  EXPECT_EQ(find("doctor", "--fresh").value, "") << "a switch";
  EXPECT_EQ(words_of(kReplayCommand), (std::vector<std::string>{"session", "number"}));
}

// What bash offers for the words typed so far.
std::vector<std::string> bash_offers(const std::vector<std::string>& words) {
  const fs::path file = fs::temp_directory_path() / ("amdahl-completion-" + std::to_string(getpid()));
  std::ofstream(file) << bash_completion();
  std::string script = "set -e; . '" + file.string() + "'; COMP_WORDS=(";
  for (const std::string& w : words) script += "'" + w + "' ";
  script += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; compopt() { :; }; _amdahl || true; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const SubprocessResult r = run_subprocess({"bash", "-c", script}, {20});
  fs::remove(file);
  EXPECT_EQ(r.exit_code, 0) << r.output;
  std::vector<std::string> offers;
  std::istringstream lines(r.output);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) offers.push_back(line);
  return offers;
}
using Offers = std::vector<std::string>;

TEST(BashCompletion, OffersCommandsOptionsValuesAndModels) {
  EXPECT_EQ(bash_offers({"amdahl", "pro"}), Offers{"profile"});
  EXPECT_EQ(bash_offers({"amdahl", "--v"}), Offers{"--version"});
  const Offers all = bash_offers({"amdahl", ""});
  for (const Command* command : commands()) EXPECT_EQ(std::count(all.begin(), all.end(), command->name), 1) << command->name;
  EXPECT_EQ(bash_offers({"amdahl", "tune", "x.onnx", "--min"}), Offers{"--minutes"});
  EXPECT_EQ(bash_offers({"amdahl", "tune", "x.onnx", "--allow", ""}), Offers{"bf16"});
  EXPECT_EQ(bash_offers({"amdahl", "export", "x.amdahl", "--format", "c"}), (Offers{"cxx", "compiled"}));
  EXPECT_EQ(bash_offers({"amdahl", "export", "x.amdahl", "--format", "h"}), (Offers{"hf-kernels"}));
  EXPECT_EQ(bash_offers({"amdahl", "tune", "x.onnx", "--minutes", ""}), Offers{}) << "a number";
  EXPECT_EQ(bash_offers({"amdahl", "tune", "builti"}), Offers{"builtin:"});
  for (const ShippedModel& model : shipped_models()) {
    const Offers offers = bash_offers({"amdahl", "tune", "builtin", ":", std::string(model.name)});
    EXPECT_NE(std::find(offers.begin(), offers.end(), model.name), offers.end()) << model.name;
  }
  EXPECT_EQ(bash_offers({"amdahl", "tune", "builtin", ":"}).size(), shipped_models().size());
}

TEST(ZshCompletion, IsAProgramForZshAndHasEveryCommand) {
  const std::string text = zsh_completion();
  for (const Command* command : commands()) EXPECT_NE(text.find("    " + std::string(command->name) + ")\n"), std::string::npos) << command->name;
  const fs::path file = fs::temp_directory_path() / ("_amdahl-" + std::to_string(getpid()));
  std::ofstream(file) << text;
  const SubprocessResult r = run_subprocess({"sh", "-c", "command -v zsh >/dev/null || exit 77; zsh -n '" + file.string() + "' 2>&1"}, {20});
  fs::remove(file);
  if (r.exit_code == 77) GTEST_SKIP() << "no zsh: apt-get install zsh";
  EXPECT_EQ(r.exit_code, 0) << r.output;
}

}  // namespace
}  // namespace amdahl

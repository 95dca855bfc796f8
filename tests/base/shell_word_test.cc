#include "base/shell_word.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace amdahl {
namespace {

TEST(ShellWord, LeavesPlainNamesAsTheyAre) {
  for (const char* plain : {"gpt2.amdahl", "models/a-b_c.onnx", "builtin:gpt2", "x=1,128", "/tmp/a+b@c%d"}) EXPECT_EQ(shell_word(plain), plain);
}

// What bash makes of a word is what it was made of.
TEST(ShellWord, IsReadBackByTheShell) {
  for (const std::string text : {"",
                                 " ",
                                 "my model.onnx",
                                 "it's",
                                 "$(touch x)",
                                 "`id`",
                                 "a\"b",
                                 "a\\b",
                                 "~/x",
                                 "*",
                                 "a;b",
                                 "a&b|c<d>e",
                                 "#x",
                                 "!x",
                                 "ü/ö",
                                 "{a,b}",
                                 "two\nlines",
                                 "\x1b[31mred",
                                 "tab\there",
                                 "\x7f",
                                 "quote'and\nline",
                                 "back\\slash\nline"}) {
    const SubprocessResult r = run_subprocess({"bash", "-c", "printf %s " + shell_word(text)}, {10});
    EXPECT_EQ(r.exit_code, 0) << text;
    EXPECT_EQ(r.output, text) << shell_word(text);
    for (const char c : shell_word(text)) EXPECT_TRUE(static_cast<unsigned char>(c) >= 32 && c != 127) << shell_word(text);
  }
}

TEST(ShellWord, ANameIsNoOption) {
  EXPECT_EQ(shell_word("-rf"), "./-rf");
  EXPECT_EQ(shell_word("-a b"), "'./-a b'");
}

}  // namespace
}  // namespace amdahl

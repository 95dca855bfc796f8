#include "base/printable.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/counted.h"

namespace amdahl {
namespace {

TEST(Printable, LeavesWhatCanBeRead) {
  for (const char* text : {"", "conv1/weight:0", "/model/layers.0/mlp", "naïve", "重み", "a\\b", "привет", "𝛼", "\"'`$*/"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsWhatControlsATerminal) {
  EXPECT_EQ(printable("two\nlines \x1b[31mred\x1b[0m"), "two\\nlines \\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("a\rb\tc\x7f"), "a\\rb\\tc\\x7f");
  EXPECT_EQ(printable(std::string("zero\0end", 8)), "zero\\x00end");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\x85"),
            "\\u009b31m\\u0085")
      << "one-byte CSI and next line, in UTF-8";
}

TEST(Printable, ShowsWhatTurnsHidesOrBreaksText) {
  EXPECT_EQ(printable("a\u202etxt.exe\u202c"), "a\\u202etxt.exe\\u202c");
  EXPECT_EQ(printable("\u2066\u2069\u200b\u2028\u2029\ufeff\u061c\u00ad"), "\\u2066\\u2069\\u200b\\u2028\\u2029\\ufeff\\u061c\\u00ad");
  EXPECT_EQ(printable("\U000e0041\uffff\U0010ffff"), "\\U000e0041\\uffff\\U0010ffff") << "a tag, and what is no character";
}

TEST(Printable, ShowsBytesThatAreNoText) {
  EXPECT_EQ(printable("\xff\xfe ok"), "\\xff\\xfe ok");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf \xe0\x80\xaf"), "\\xc0\\xaf \\xe0\\x80\\xaf") << "overlong forms of /";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past the last character";
  EXPECT_EQ(printable("\xe9t\xc3\xa9"), "\\xe9té") << "Latin-1, then UTF-8";
}

// What the loader promises to terminals, C comments and JSON, for any bytes.
TEST(Printable, OfAnythingIsPrintableAlready) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string once = printable(std::string{static_cast<char>(a), static_cast<char>(b), 'x'});
      EXPECT_EQ(printable(once), once) << a << " " << b;
      for (const char c : once) ASSERT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f) << a << " " << b;
    }
}

TEST(Shortened, KeepsBothEndsAndSaysHowMuchIsMissing) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcdefghij", 6), "abcd… 4 more …ij");
  EXPECT_EQ(shortened("ääääääääää", 6), "ääää… 4 more …ää") << "characters, not bytes";
  EXPECT_EQ(shortened("äääääääää", 9), "äääääääää");
  EXPECT_LT(shown(std::string(20000, 'a')).size(), 130u);
  EXPECT_LT(shown(std::string(20000, '\x1b')).size(), 130u);
}

TEST(Listed, LeavesTheMiddleOut) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a", "b"}), "a, b");
  EXPECT_EQ(listed({"a", "b", "c", "d", "e"}, ", ", 4), "a, b, c, … 1 more …, e");
  EXPECT_EQ(listed({"a", "b", "c", "d", "e"}, "; ", 5), "a; b; c; d; e");
}

TEST(ShownMessage, IsBoundedLineByLine) {
  EXPECT_EQ(shown_message("one\n  two \x1b[2J"), "one\n  two \\x1b[2J");
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += std::string(5000, 'x') + "\n";
  const std::string text = shown_message(lines);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 100);
  EXPECT_LT(text.size(), 250000u);
}

TEST(Counted, FitsTheNumber) {
  EXPECT_EQ(counted(0, "thread"), "0 threads");
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(size_t{2}, "thread"), "2 threads");
  EXPECT_EQ(counted(1, "process", "processes"), "1 process");
  EXPECT_EQ(counted(9, "process", "processes"), "9 processes");
}

}  // namespace
}  // namespace amdahl

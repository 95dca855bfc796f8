#include "cli/output_names.h"

#include <gtest/gtest.h>

#include <set>

namespace amdahl {
namespace {

using Names = std::vector<std::string>;

TEST(OutputNames, PlainNamesStay) { EXPECT_EQ(file_names({"y", "logits_0", "a.b-c"}, ".npy", 255), (Names{"y.npy", "logits_0.npy", "a.b-c.npy"})); }

TEST(OutputNames, NoTwoAreOne) {
  EXPECT_EQ(file_names({"a/b", "a_b"}, ".npy", 255), (Names{"a_b-2.npy", "a_b.npy"}));
  EXPECT_EQ(file_names({"a/b", "a:b", "a b"}, ".npy", 255), (Names{"a_b.npy", "a_b-2.npy", "a_b-3.npy"}));
  EXPECT_EQ(file_names({"a:b", "a_b-2", "a_b"}, ".npy", 255), (Names{"a_b-3.npy", "a_b-2.npy", "a_b.npy"})) << "also not with a number";
  EXPECT_EQ(file_names({"", "_", "?"}, ".npy", 255), (Names{"_-2.npy", "_.npy", "_-3.npy"}));
  EXPECT_EQ(file_names({"y", "y"}, ".npy", 255), (Names{"y.npy", "y-2.npy"}));
}

TEST(OutputNames, LettersOfAnyScriptStay) { EXPECT_EQ(file_names({"ä", "ö", "標籤", "Ж"}, ".npy", 255), (Names{"ä.npy", "ö.npy", "標籤.npy", "Ж.npy"})); }

TEST(OutputNames, WhatATerminalActsOnOrHidesGoes) {
  for (const std::string bad : {"a\x1b[31m", "a\nb", "a\xc2\x9b",
                                "a\xe2\x80\xae"
                                "b",
                                "a\xff", "a\xc3", "a\xed\x9f", "\xf5\x80\x80\x80", "a\x7f"}) {
    const std::string name = file_names({bad}, ".npy", 255)[0];
    for (const char c : name) EXPECT_TRUE(static_cast<unsigned char>(c) > 32 && static_cast<unsigned char>(c) < 127) << bad << name;
  }
  EXPECT_EQ(file_names({".", "..", "../x", "-o"}, ".npy", 255), (Names{"_..npy", "_...npy", "_.._x.npy", "_-o.npy"}));
}

TEST(OutputNames, LongOnesAreCutAtACharacterAndStayApart) {
  const std::string y(300, 'y');
  const Names names = file_names({y + "1", y + "2", y}, ".npy", 255);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 3u);
  for (const std::string& name : names) EXPECT_LE(name.size(), 255u);
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ä";
  const std::string cut = file_names({umlauts}, ".npy", 255)[0];
  EXPECT_EQ(cut.size(), 254u) << "125 letters of two bytes, and the ending";
  EXPECT_EQ(file_names({std::string(251, 'x')}, ".npy", 255)[0].size(), 255u);
}

}  // namespace
}  // namespace amdahl

#include <gtest/gtest.h>

#include <set>

#include "graph/op.h"

namespace amdahl {
namespace {

TEST(OpList, NamesAnOperatorOnce) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const OpDef& op : op_list()) EXPECT_TRUE(seen.insert({op.domain, op.name}).second) << op.domain << ":" << op.name << " is listed twice";
}

// A letter that nobody knows would let any type through.
TEST(OpList, SaysWhatAnOperatorMayBeGiven) {
  for (const OpDef& op : op_list()) {
    std::string_view letters = op.inputs;
    if (letters.ends_with('+')) letters.remove_suffix(1);
    EXPECT_EQ(letters.find_first_not_of("anfibANFIB"), std::string_view::npos) << op.name << ": " << op.inputs;
    EXPECT_GE(op.outputs, 0) << op.name;
  }
}

}  // namespace
}  // namespace amdahl

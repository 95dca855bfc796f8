#include "bench/conformance/bounds.h"

#include <gtest/gtest.h>

namespace amdahl::conformance {
namespace {

TEST(Bounds, HoldWhereInputsAreOff) {
  CaseReader reader(AMDAHL_STATED_CASES);
  while (const std::optional<StatedCase> c = reader.next()) EXPECT_EQ(element_beyond_its_bound(*c), "") << c->name;
}

}  // namespace
}  // namespace amdahl::conformance

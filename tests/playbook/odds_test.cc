// The table of what sessions of the past counted names rewrites that exist, once each, and its figures are possible ones.

#include "playbook/odds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "playbook/playbook.h"

namespace amdahl {
namespace {

TEST(Odds, AreCountedForRewritesOfThePlaybook) {
  std::set<std::string_view> names;
  for (const Rewrite* rewrite : playbook()) names.insert(rewrite->name());
  const std::vector<std::string_view> counted = counted_rewrites();
  EXPECT_EQ(std::set<std::string_view>(counted.begin(), counted.end()).size(), counted.size());
  for (const std::string_view name : counted) EXPECT_TRUE(names.count(name)) << name << " is no rewrite: was it renamed?";
}

TEST(Odds, ArePossible) {
  for (const char* backend : {"cpu", "cuda"})
    for (const Rewrite* rewrite : playbook()) {
      const Odds odds = rewrite->odds(backend);
      EXPECT_GT(odds.chance, 0) << rewrite->name();  // what never won so far may win
      EXPECT_LT(odds.chance, 1) << rewrite->name();
      EXPECT_GT(odds.share, 0) << rewrite->name();
      EXPECT_LT(odds.share, 1) << rewrite->name();
    }
}

TEST(Odds, AreTheDefaultsOfWhatWasNeverCounted) {
  EXPECT_GT(odds_of("no such rewrite", true, "cpu").chance, odds_of("no such rewrite", false, "cpu").chance);
  EXPECT_LT(odds_of("set_prefetch_distance", false, "cpu").chance, odds_of("no such rewrite", false, "cpu").chance);  // 67 windows, none won
}

}  // namespace
}  // namespace amdahl

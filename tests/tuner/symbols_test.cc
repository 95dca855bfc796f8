// What a library may ask of others is judged from its file alone, and the file is not trusted.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/random.h"
#include "plan/plan.h"
#include "starter_kernels/backend.h"
#include "starter_kernels/example_graph.h"
#include "tests/graph/temporary_folder.h"
#include "tuner/elf.h"
#include "tuner/symbols.h"

namespace amdahl {
namespace {

// The starter of a small matmul, built.
std::string starter_library() {
  ExampleGraph g("matmul");
  const ValueId x = g.input({4, 8});
  const Graph graph = g.finish({g.node("MatMul", {x, g.normal({8, 16}, 1)})});
  const CompileResult r = Toolchain(default_cache_dir()).compile(starter_plan(graph, 2).steps[0].variant);
  EXPECT_TRUE(r.ok) << r.message;
  return r.library;
}

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(Symbols, AStarterAsksForNothingOdd) { EXPECT_EQ(refused_symbols(starter_library()), ""); }

TEST(Symbols, ThisProgramAsksForMore) { EXPECT_NE(refused_symbols("/proc/self/exe"), ""); }

TEST(Symbols, WhatIsNoLibraryIsRefused) {
  const testing::TemporaryFolder folder;
  EXPECT_NE(refused_symbols(folder / "missing.so"), "");
  EXPECT_NE(refused_symbols(folder.write("empty.so", "")), "");
  EXPECT_NE(refused_symbols(folder.write("text.so", "no library at all")), "");
}

TEST(ElfFile, NamesAndLibrariesAreFound) {
  const auto elf = ElfFile::read(starter_library());
  ASSERT_TRUE(elf);
  int offered = 0;
  for (const ElfFile::Symbol& s : elf->dynamic_symbols()) offered += s.defined && s.name.starts_with("amdahl_");
  EXPECT_EQ(offered, 4);
  const auto needed = elf->needed();
  EXPECT_NE(std::find_if(needed.begin(), needed.end(), [](std::string_view l) { return l.starts_with("libgomp"); }), needed.end());
}

// Whatever a damaged file says of itself, reading stays inside it (the sanitizers watch).
TEST(ElfFile, DamageIsSurvived) {
  const testing::TemporaryFolder folder;
  const std::string whole = contents_of(starter_library());
  ASSERT_GT(whole.size(), 1000u);
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole.substr(0, random.below(3) == 0 ? random.below(whole.size()) : whole.size());
    for (int i = 0; i < 20 && !damaged.empty(); ++i) {
      // Headers (at both ends of the file) more often than code.
      const size_t at = random.below(2) == 0 ? random.below(std::min<size_t>(damaged.size(), 64)) : random.below(damaged.size());
      damaged[at] = static_cast<char>(random.next());
    }
    const std::string path = folder.write("damaged.so", damaged);
    if (const auto elf = ElfFile::read(path)) elf->dynamic_symbols(), elf->needed();
    refused_symbols(path);
  }
}

}  // namespace
}  // namespace amdahl

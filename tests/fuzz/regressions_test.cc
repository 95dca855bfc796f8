// Files that once crashed the loader, hung it, or made it ask for all memory: each a few hundred bytes that the fuzzer found,
// named after what was wrong. Now each is refused, or loads, quickly.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/fuzz/load_model.h"
#include "tests/graph/peak_memory.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = AMDAHL_SOURCE_DIR "/tests/fuzz/regressions";

std::vector<fs::path> files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

class FuzzRegression : public ::testing::TestWithParam<fs::path> {};

TEST_P(FuzzRegression, IsRefusedOrLoads) {
  std::ifstream in(GetParam(), std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  const auto start = std::chrono::steady_clock::now();
  const auto grown = testing::peak_growth([&] { EXPECT_NO_THROW(testing::load_hostile_model(bytes.str(), kFolder)); });
  EXPECT_LT(grown.value_or(0), 160 << 20) << "bytes of memory, for a file of " << bytes.str().size();
  // What hung, hung for minutes. A machine under load is no reason to fail.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

INSTANTIATE_TEST_SUITE_P(Files, FuzzRegression, ::testing::ValuesIn(files()), [](const auto& info) {
  std::string name = info.param.stem();
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FuzzRegression);

}  // namespace
}  // namespace amdahl

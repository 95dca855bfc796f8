// Every export format: written, built by what it ships with in a folder of its own, and its self-test run; and the self-test
// notices weights that are not the ones it was made with.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "export/exporter.h"
#include "graph/builders.h"
#include "graph/oracle.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

SelfTestCase self_test_of(const Graph& graph) {
  SelfTestCase test;
  RefValues given;
  Random random(3);
  for (ValueId id : graph.inputs) {
    const Value& v = graph.value(id);
    if (is_float(v.dtype)) {
      std::vector<double> x(static_cast<size_t>(numel(v.shape)));
      for (double& e : x) e = random.normal();
      test.inputs.push_back(from_doubles(v.dtype, v.shape, x));
    } else {
      test.inputs.push_back(from_ints(v.dtype, v.shape, std::vector<int64_t>(static_cast<size_t>(numel(v.shape)), 1)));
    }
    given[id] = RefTensor::of(test.inputs.back());
  }
  std::vector<NodeId> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const RefValues want = evaluate(graph, nodes, given, graph.outputs, false);
  for (ValueId id : graph.outputs) test.expected.push_back(want.at(id).to_tensor());
  test.relative_norm = 2e-6;  // what a starter plan reaches on these models
  return test;
}

class Export : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-export-" + std::to_string(getpid()));
    fs::remove_all(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  void write(const ExportFormat& format) {
    const Graph graph = find_shipped_model(GetParam())->build({});
    const Plan plan = starter_plan(graph, 2);
    const auto files = format.write({graph, plan, GetParam(), dir_, self_test_of(graph), 1.0, "a test"});
    EXPECT_FALSE(files.empty());
    for (const std::string& file : files) EXPECT_TRUE(fs::exists(dir_ / file)) << file;
  }
  SubprocessResult in_folder(const std::string& command) const {
    return run_subprocess({"sh", "-c", "cd '" + dir_.string() + "' && " + command}, {300});
  }

  fs::path dir_;
};

// What a user of the format would do with it, and what must hold then.
void use_cxx(const std::function<SubprocessResult(const std::string&)>& shell, const fs::path& dir) {
  const SubprocessResult build = shell("cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build build -j2");
  ASSERT_EQ(build.exit_code, 0) << build.output.substr(0, 3000);
  const SubprocessResult right = shell("./build/selftest . && ./build/example");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  const SubprocessResult needs = shell("ldd build/selftest");
  EXPECT_EQ(needs.output.find("amdahl"), std::string::npos) << needs.output;

  // Other weights: the outputs are not the recorded ones.
  std::fstream weights(dir / "weights.bin", std::ios::binary | std::ios::in | std::ios::out);
  std::vector<float> values(fs::file_size(dir / "weights.bin") / sizeof(float));
  weights.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  for (size_t i = values.size() / 2; i < values.size(); ++i)
    if (std::isfinite(values[i]) && std::fabs(values[i]) > 1e-3f && std::fabs(values[i]) < 1e3f) values[i] *= 1.01f;
  weights.seekp(0);
  weights.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  weights.close();
  const SubprocessResult wrong = shell("./build/selftest .");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.output;

  fs::resize_file(dir / "weights.bin", fs::file_size(dir / "weights.bin") / 2);
  const SubprocessResult cut_off = shell("./build/selftest .");
  EXPECT_EQ(cut_off.exit_code, 2) << cut_off.output;
  EXPECT_NE(cut_off.output.find("weights.bin"), std::string::npos) << cut_off.output;
}

TEST_P(Export, BuildsAndTestsItselfWithNothingOfOurs) {
  for (const ExportFormat& format : export_formats()) {
    SCOPED_TRACE(format.name);
    EXPECT_FALSE(format.summary.empty());
    ASSERT_NO_FATAL_FAILURE(write(format));
    const auto shell = [&](const std::string& command) { return in_folder(command); };
    if (format.name == "cxx") use_cxx(shell, dir_);
    else FAIL() << "nobody has said how this format is used";
  }
}

INSTANTIATE_TEST_SUITE_P(Minis, Export, ::testing::Values("gpt2-mini", "mobilenet-mini"),
                         [](const auto& info) { std::string n = info.param; std::replace(n.begin(), n.end(), '-', '_'); return n; });

TEST(ExportFormats, AFolderOfSomebodyElseIsLeftAlone) {
  const fs::path dir = fs::temp_directory_path() / ("amdahl-export-foreign-" + std::to_string(getpid()));
  fs::create_directories(dir);
  std::ofstream(dir / "thesis.txt") << "years of work\n";
  const Graph graph = find_shipped_model("gpt2-mini")->build({});
  const Plan plan = starter_plan(graph, 1);
  for (const ExportFormat& format : export_formats()) {
    EXPECT_THROW(format.write({graph, plan, "m", dir, self_test_of(graph), 1.0, ""}), Error) << format.name;
    EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator{}), 1) << format.name;
  }
  fs::remove_all(dir);
}

}  // namespace
}  // namespace amdahl

// The formats of an NVIDIA card for Python, without a card and without PyTorch: their modules run on a driver that records (fake_cuda_driver.h) with a stand-in for
// PyTorch (fake_torch/torch.py), and are held to exported_module_cases.py. AMDAHL_TORCH_PYTHON names a Python that has the real one: registration is tried there too.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "base/cuda/nvrtc.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "export/hf_kernels_cuda.h"
#include "export/pytorch_cuda.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tests/export/self_test_of.h"
#include "tests/graph/temporary_folder.h"
#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

using testing::self_test_of;
using testing::TemporaryFolder;

constexpr const char* kTests = AMDAHL_SOURCE_DIR "/tests/export";

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

// Two inputs that differ in type and size, the second handed on first; a weight of half floats. No step.
Graph handed_on() {
  ExampleGraph g("handed on");
  const ValueId x = g.input({3, 5}), n = g.input(DType::kI64, {4});
  return g.finish({g.node("Identity", {n}), g.node("Reshape", {x, g.ints({1}, {15})}), g.node("Identity", {g.normal({70}, 1, 0, 1, DType::kF16)})});
}
Graph product() {
  ExampleGraph g("product");
  const ValueId x = g.input({4, 64});
  return g.finish({g.node("MatMul", {x, g.normal({64, 24}, 1)})});
}

class Exported {
 public:
  using Writer = std::vector<std::string> (*)(const ExportRequest&);

  Exported(Writer write, const std::string& name, const Graph& graph) : write_(write), name_(name), graph_(graph) { again(); }

  void again() {
    const Plan plan = starter_plan(graph_, 1, target_);
    files_ = write_({graph_, plan, name_, folder_.str(), self_test_of(graph_), 1.0, "a test", {}, target_, default_cache_dir()});
  }
  SubprocessResult shell(const std::string& command) const { return run_subprocess({"sh", "-c", "cd '" + folder_.str() + "' && " + command}, {300}); }
  // With the stand-in for PyTorch, on a card of this capability.
  SubprocessResult python(const std::string& arguments, const std::string& capability = "9.0") const {
    return shell("export PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH='" FAKE_CUDA_FOLDER "' PYTHONPATH='" + std::string(kTests) +
                 "/fake_torch' FAKE_CUDA_CAPABILITY=" + capability + " && python3 " + arguments);
  }
  std::string text(const std::string& file) const {
    std::ifstream in(folder_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool holds(const std::string& file) const { return fs::exists(folder_ / file); }
  const std::vector<std::string>& files() const { return files_; }

 private:
  const Writer write_;
  const std::string name_;
  const Graph graph_;
  const Target target_ = testing::hopper();
  const TemporaryFolder folder_;
  std::vector<std::string> files_;
};

class CudaPython : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      const cuda::Nvrtc nvrtc;
    } catch (const Error& error) {
      GTEST_SKIP() << "this test compiles kernels: " << error.what();
    }
  }
};

// Every text is whole, and Python reads those that are its own.
void expect_whole(const Exported& e) {
  for (const std::string& file : e.files()) {
    EXPECT_TRUE(e.holds(file)) << file;
    if (std::regex_search(file, std::regex(R"(\.(py|md|txt|json|h|cpp|c)$)"))) {
      EXPECT_FALSE(std::regex_search(e.text(file), std::regex("@[A-Z_]+@"))) << file << ": " << e.text(file);
    }
  }
  const SubprocessResult compiled = e.shell("find . -name '*.py' -print0 | PYTHONPYCACHEPREFIX=$PWD/compiled xargs -0 python3 -W error -m py_compile");
  EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
}

void expect_cases_hold(const Exported& e, const std::string& packages, const std::string& package, const std::string& name_space) {
  const SubprocessResult r = e.python(fmt::format("{}/exported_module_cases.py {} {} selftest.bin {}", kTests, packages, package, name_space));
  EXPECT_EQ(r.exit_code, 0) << r.output;
}

// Says which kernels a card gets, or why none.
std::string build_on(const Exported& e, const std::string& packages, const std::string& package, const std::string& capability) {
  return e.python("-c 'import sys; sys.path.insert(0, \"" + packages + "\"); import " + package + "; print(" + package + ".build())'", capability).output;
}

// Inside the real PyTorch, which needs no card to trace a graph.
void expect_traced(const Exported& e, const std::string& packages, const std::string& package, const std::string& name_space) {
  const char* python = std::getenv("AMDAHL_TORCH_PYTHON");
  if (!python || !*python) return;
  const SubprocessResult r =
      e.shell(fmt::format("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={} {} {}/traced_module_cases.py {} {}", packages, python, kTests, package, name_space));
  EXPECT_EQ(r.exit_code, 0) << r.output;
}

TEST_F(CudaPython, AModuleForPytorchLaunchesTheCLibrary) {
  const Exported e(write_pytorch_cuda, "handed-on", handed_on());
  expect_whole(e);
  const std::string unbuilt = build_on(e, "python", "handed_on", "9.0");
  EXPECT_TRUE(has(unbuilt, "ImportError") && has(unbuilt, "libhanded_on.so is not there: cmake -S ")) << unbuilt;
  const SubprocessResult built = e.shell("cmake -S python -B python/build -DPython3_EXECUTABLE=python3 -G Ninja && cmake --build python/build");
  ASSERT_EQ(built.exit_code, 0) << built.output.substr(0, 3000);
  EXPECT_FALSE(has(built.output, "arning")) << built.output;
  expect_cases_hold(e, "python", "handed_on", "handed_on");
  expect_traced(e, "python", "handed_on", "handed_on");
}

TEST_F(CudaPython, ARepositoryOfTheHubLoadsAsItIs) {
  const Exported e(write_hf_kernels, "handed-on", handed_on());
  expect_whole(e);
  const Json metadata = Json::parse(e.text("build/torch-cuda/metadata.json"));
  EXPECT_EQ(metadata.at("name"), "handed-on");
  EXPECT_EQ(metadata.at("backend"), (Json{{"type", "cuda"}, {"archs", {"8.0+PTX", "9.0"}}}));
  const std::string id = metadata.at("id");
  EXPECT_TRUE(std::regex_match(id, std::regex("_handed_on_cuda_[0-9a-f]{7}"))) << id;
  expect_cases_hold(e, "build/torch-cuda", "handed_on", id);
  expect_traced(e, "build/torch-cuda", "handed_on", id);
  // As the package `kernels` imports it: by the file, under its id.
  const SubprocessResult as_kernels = e.python("-c 'import importlib.util, sys; s = importlib.util.spec_from_file_location(\"" + id +
                                               "\", \"build/torch-cuda/__init__.py\"); m = sys.modules[s.name] = importlib.util.module_from_spec(s); "
                                               "s.loader.exec_module(m); print(m.build(), m.__all__)'");
  EXPECT_TRUE(has(as_kernels.output, "tuned ['INPUTS'")) << as_kernels.output;
}

TEST_F(CudaPython, ItsLibraryNeedsTheCLibraryAloneAndAnOldOne) {
  const Exported e(write_hf_kernels, "product", product());
  const std::string library = "build/torch-cuda/libproduct.$(uname -m).so";
  EXPECT_FALSE(has(e.shell("readelf -d " + library + " | grep NEEDED | grep -v -e libc.so -e ld-linux").output, "NEEDED"));
  if (e.shell("uname -m").output == "x86_64\n") {
    const std::string text = e.shell("objdump -T " + library).output;
    const std::regex version(R"(GLIBC_(\d+)\.(\d+))");
    ASSERT_TRUE(std::regex_search(text, version)) << text;
    for (std::sregex_iterator v(text.begin(), text.end(), version), none; v != none; ++v)
      EXPECT_TRUE(std::stoi((*v)[1]) == 2 && std::stoi((*v)[2]) <= 28) << v->str() << " is newer than the README says";
  }
  // What it was built from is a project of its own; weights are there once.
  const SubprocessResult built = e.shell("cmake -S source -B source/build -G Ninja && cmake --build source/build && test -L source/weights.bin");
  EXPECT_EQ(built.exit_code, 0) << built.output.substr(0, 3000);
}

TEST_F(CudaPython, AnotherCardOrMachineIsTold) {
  Exported e(write_hf_kernels, "product", product());
  EXPECT_EQ(build_on(e, "build/torch-cuda", "product", "9.0"), "tuned\n");
  EXPECT_EQ(build_on(e, "build/torch-cuda", "product", "8.6"), "portable\n");
  EXPECT_TRUE(has(e.text("README.md"), "for compute capability 9.0 (`sm_90a`). Other cards of 8.0 or later get a portable build"));
  ASSERT_EQ(e.shell("printf x >> build/torch-cuda/weights.bin").exit_code, 0);
  EXPECT_TRUE(has(build_on(e, "build/torch-cuda", "product", "9.0"), "RuntimeError: product: the weights file")) << "by its hash";
  ASSERT_EQ(e.shell("mv build/torch-cuda/libproduct.$(uname -m).so build/torch-cuda/libproduct.vax.so").exit_code, 0);
  const std::string elsewhere = build_on(e, "build/torch-cuda", "product", "9.0");
  EXPECT_TRUE(has(elsewhere, "is not there: it was built for ") && has(elsewhere, "build source/ of the export on this machine")) << elsewhere;
  e.again();
  EXPECT_FALSE(e.holds("build/torch-cuda/libproduct.vax.so"));
  EXPECT_EQ(build_on(e, "build/torch-cuda", "product", "9.0"), "tuned\n");
}

// Names of the hub have small letters, and none begins or ends with a dash.
TEST_F(CudaPython, NamesAreThoseThatTheHubTakes) {
  for (const auto& [name, kernel] : {std::pair{"Net_V2_", "net-v2"}, {"_x", "model-x"}}) {
    const Exported e(write_hf_kernels, name, handed_on());
    EXPECT_EQ(Json::parse(e.text("build/torch-cuda/metadata.json")).at("name"), kernel);
    std::string package = kernel;
    std::replace(package.begin(), package.end(), '-', '_');
    EXPECT_EQ(build_on(e, "build/torch-cuda", package, "9.0"), "tuned\n");
  }
}

// By the system's own driver: right where there is a card and a PyTorch for it, told where there is none.
TEST_F(CudaPython, TheSelfTestsRunOnARealCard) {
  const char* python = std::getenv("AMDAHL_TORCH_PYTHON");
  if (!python || !*python) GTEST_SKIP() << "this test needs PyTorch: AMDAHL_TORCH_PYTHON names a Python that has it";
  const Exported module(write_pytorch_cuda, "product", product()), repository(write_hf_kernels, "product", product());
  ASSERT_EQ(module.shell("cmake -S python -B python/build && cmake --build python/build").exit_code, 0);
  for (const SubprocessResult& r : {module.shell(std::string(python) + " python/selftest.py"), repository.shell(std::string(python) + " selftest.py")}) {
    if (r.exit_code == 2) {
      EXPECT_TRUE(has(r.output, "PyTorch finds no NVIDIA card")) << r.output;
      GTEST_SKIP() << "this test needs an NVIDIA card: " << r.output;
    }
    EXPECT_EQ(r.exit_code, 0) << r.output;
  }
}

}  // namespace
}  // namespace amdahl

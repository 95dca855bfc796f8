// amdahl compare beside interpreters that a test makes up: what is kept of it, what is shown of it, and that nothing is left behind.

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/subprocess.h"
#include "cli/open_session.h"
#include "experiments/comparison_text.h"
#include "experiments/session.h"
#include "graph/models/buckets.h"
#include "graph/onnx/tensor_io.h"
#include "tests/cli/fake_python.h"
#include "tests/graph/temporary_folder.h"

extern char** environ;

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::FakePython;
using testing::TemporaryFolder;

std::string program() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl"; }

// A session that nothing was tuned in: its kept plan is the starter plan.
std::string untuned_session(const std::string& path, bool allow_bf16 = false) {
  const std::vector<BucketSizes> buckets{{"", {}}};
  const Graph graph = load_buckets("builtin:gpt2-mini", buckets);
  const auto session = Session::create(path, identity_of("builtin:gpt2-mini", path, buckets, graph, cpu_backend(), "g++"));
  TuneOptions options;
  options.threads = 1;
  options.allow_bf16 = allow_bf16;
  PlanRecord record;
  record.id = 1;
  record.gated = true;
  record.plan = starter_plan(graph, 1, cpu_backend().target());
  Commit commit;
  commit.plans = {record};
  commit.options = Json(options);
  commit.state = Json{{"head", 1}, {"gated", 1}};
  session->commit(commit);
  return path;
}

class Compare : public ::testing::Test {
 protected:
  void SetUp() override { session_ = untuned_session(dir_ / "s.amdahl"); }

  std::vector<std::string> words(const FakePython& python, const std::string& subject, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{program(), "compare", subject, "--python", python.write(dir_ / "python"), "--rounds", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  SubprocessResult compare(const FakePython& python, const std::vector<std::string>& more = {}) { return run_subprocess(words(python, session_, more), {120}); }
  std::vector<ComparedArm> rows() const { return shown_comparison(*Session::open(session_, Session::Access::kRead)); }
  static const ComparedArm& row(const std::vector<ComparedArm>& rows, const std::string& arm) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const ComparedArm& r) { return r.arm == arm; });
    if (found == rows.end()) throw std::runtime_error("no row " + arm);
    return *found;
  }
  std::string shown(const std::vector<std::string>& command) {
    std::vector<std::string> words{program()};
    words.insert(words.end(), command.begin(), command.end());
    return run_subprocess(words, {60}).output;
  }

  TemporaryFolder dir_;
  std::string session_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(Compare, RowsGoIntoTheSessionAndReportsShowTheBestOfOthers) {
  const SubprocessResult r = compare({});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_HAS(r.output, "ONNX Runtime 1.2.3, optimiser off");
  EXPECT_HAS(r.output, "as fast as ONNX Runtime 1.2.3");
  EXPECT_HAS(r.output, "next     amdahl report");
  const std::vector<ComparedArm> rows = this->rows();
  ASSERT_EQ(rows.size(), 6u) << "ours, three that run and two that cannot";
  EXPECT_TRUE(rows[0].ours);
  EXPECT_EQ(rows[0].plan, 1);
  const ComparedArm& ort = row(rows, "onnxruntime");
  EXPECT_EQ(ort.version, "1.2.3");
  EXPECT_EQ(ort.threads, 1);
  EXPECT_EQ(ort.round_seconds, (std::vector<double>{1, 1}));
  EXPECT_GT(ort.over_ours.lo, 0);
  EXPECT_FALSE(ort.difference) << "it said that it has no outputs";
  EXPECT_HAS(row(rows, "pytorch eager f32").reason, "has no torch");
  EXPECT_HAS(row(rows, "pytorch eager f32").advice, "-m pip install torch");
  for (const char* command : {"report", "status"}) EXPECT_HAS(shown({command, session_}), "best baseline: ours is");
  EXPECT_HAS(shown({"report", session_}), "beside other runtimes");
  const Json report = Json::parse(shown({"report", session_, "--json"}));
  EXPECT_EQ(report.at("best_baseline").at("arm"), "onnxruntime");
  EXPECT_EQ(report.at("best_baseline").at("standing"), "faster");
  EXPECT_EQ(report.at("compared").size(), 6u);
}

TEST_F(Compare, AWinnerThatIsNotUsIsShownAsSuch) {
  FakePython python;
  python.openvino = "serve 0.0001";
  const SubprocessResult r = compare(python);
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_HAS(r.output, "OpenVINO 2026.1 is ");
  EXPECT_HAS(r.output, " as fast as ours");
  EXPECT_HAS(r.output, "next     amdahl resume");
  EXPECT_LT(r.output.find("OpenVINO 2026.1 "), r.output.find("ours, the kept plan")) << "the fastest comes first:\n" << r.output;
  EXPECT_HAS(shown({"report", session_}), "best baseline: OpenVINO 2026.1 is ");
  EXPECT_EQ(Json::parse(shown({"status", session_, "--json"})).at("best_baseline").at("standing"), "slower");
}

TEST_F(Compare, AnArmThatDiesOrHangsIsARowAndTheOthersGoOn) {
  FakePython python;
  python.openvino = "echo no such device >&2; exit 3";
  python.plain = "echo ready 1; read -r a; sleep 1000";
  python.packages += R"(, "torch": "9")";
  python.torch_names = R"("gpt2-mini": "numpy")";
  python.torch = "echo ready 1; read -r a; echo times 1 1 1; read -r a; kill -KILL $$";
  ASSERT_EQ(compare({}).exit_code, 0) << "our kernels are compiled then: the limit is for who hangs";
  const SubprocessResult r = compare(python, {"--limit", "10"});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  const std::vector<ComparedArm> rows = this->rows();
  EXPECT_EQ(row(rows, "openvino f32").reason, "no such device");
  EXPECT_EQ(row(rows, "onnxruntime plain").reason, "no answer within 10 s");
  EXPECT_EQ(row(rows, "pytorch eager f32").reason, "died of SIGKILL");
  EXPECT_EQ(row(rows, "onnxruntime").reason, "");
  EXPECT_EQ(best_baseline(rows)->peer.arm, "onnxruntime");
  EXPECT_HAS(r.output, "not in the running");
}

TEST_F(Compare, WhatTalksNonsenseOrComputesSomethingElseDoesNotCount) {
  FakePython python;
  const std::string other = dir_ / "other.npy";
  save_npy(Tensor::of<float>(DType::kF32, {2}, {1, 2}), other);
  python.optimised = "save() { cp " + other + " $1/0.npy; echo saved; }; SAVE=save; serve 0.0001";
  python.plain = "echo hello";
  python.openvino = "echo ready 1; read -r a; echo times 1 x 2; read -r a";
  const SubprocessResult r = compare(python);
  ASSERT_EQ(r.exit_code, 0) << r.output;
  const std::vector<ComparedArm> rows = this->rows();
  EXPECT_HAS(row(rows, "onnxruntime").reason, "computes something else");
  EXPECT_GT(row(rows, "onnxruntime").seconds, 0) << "how long it took is said all the same";
  EXPECT_EQ(row(rows, "onnxruntime plain").reason, "answered 'hello' where 'ready' was expected");
  EXPECT_HAS(row(rows, "openvino f32").reason, "what are not 3 times");
  EXPECT_FALSE(best_baseline(rows));
  EXPECT_HAS(r.output, "no other runtime was measured");
}

TEST_F(Compare, MissingRuntimesAreSaidWithWhatInstallsThem) {
  FakePython python;
  python.packages = "";
  const SubprocessResult r = compare(python);
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_HAS(r.output, "-m pip install onnxruntime numpy");
  EXPECT_HAS(r.output, "no openvino");
  EXPECT_HAS(r.output, "no torch");
  EXPECT_HAS(shown({"report", session_}), "none of the runtimes could be measured");
}

TEST_F(Compare, OfSeveralTheNewestCountsThatHasAPeer) {
  FakePython python;
  ASSERT_EQ(compare(python).exit_code, 0);
  python.optimised = "serve 500";
  ASSERT_EQ(compare(python).exit_code, 0);
  python.packages = "";
  ASSERT_EQ(compare(python).exit_code, 0);
  const auto session = Session::open(session_, Session::Access::kRead);
  EXPECT_EQ(session->compared().back().comparison, 3);
  const Baseline baseline = *best_baseline(shown_comparison(*session));
  EXPECT_EQ(baseline.peer.comparison, 2);
  EXPECT_EQ(baseline.peer.seconds, 0.5);
  EXPECT_EQ(age_text(baseline, *session), "");
}

TEST_F(Compare, AModelIsComparedWithoutASession) {
  const SubprocessResult r = run_subprocess(words({}, "builtin:gpt2-mini", {"--json", "--threads", "1", "--seq", "8"}), {120});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  const Json document = Json::parse(r.output);
  EXPECT_TRUE(document.at("session").is_null());
  EXPECT_EQ(document.at("arms")[0].at("arm"), "starter");
  EXPECT_EQ(document.at("best_baseline").at("arm"), "onnxruntime");
  EXPECT_EQ(document.at("arms")[1].at("threads"), 1);
}

TEST_F(Compare, ArmsAreChosenAndAdded) {
  const std::string own = dir_ / "own.sh";
  std::ofstream(own)
      << "test -s \"$1\" && test -s \"$2/names.txt\" && test \"$3\" = 1 || exit 1\n"
         "echo ready 1\nwhile read -r word n; do case $word in run) echo times $(for _ in $(seq $n); do echo 7; done) ;; *) echo none ;; esac; done\n";
  const SubprocessResult r = compare({}, {"--only", "starter,openvino f32", "--arm", "own one=sh " + own});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  const std::vector<ComparedArm> rows = this->rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].arm, "tuned");
  EXPECT_EQ(rows[1].arm, "starter");
  EXPECT_TRUE(rows[1].difference);
  EXPECT_EQ(*rows[1].difference, 0);
  EXPECT_EQ(rows[2].arm, "openvino f32");
  EXPECT_EQ(rows[3].seconds, 0.007) << rows[3].reason;
}

TEST_F(Compare, BadWordsSayWhatToGive) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& part, int code = 2) {
    const SubprocessResult r = compare({}, more);
    EXPECT_EQ(r.exit_code, code) << r.output;
    EXPECT_HAS(r.output, part);
  };
  refused({"--only", "tensorrt"}, "no arm 'tensorrt': give some of onnxruntime,");
  refused({"--arm", "name"}, "write NAME=COMMAND");
  refused({"--arm", "onnxruntime=a"}, "there is an arm 'onnxruntime' already");
  refused({"--threads", "2"}, "is tuned for 1 thread");
  refused({"--torch", dir_ / "none.py"}, "no such file");
  refused({"--only-shape", "64"}, "one shape alone");
  const SubprocessResult none = run_subprocess({program(), "compare", session_, "--python", dir_ / "none"}, {60});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_HAS(none.output, "it cannot be started");
  EXPECT_TRUE(Session::open(session_, Session::Access::kRead)->compared().empty());
}

TEST_F(Compare, WhoWritesTheSessionIsNotDisturbed) {
  const auto writer = Session::open(session_, Session::Access::kWrite);
  EXPECT_EQ(compare({}).exit_code, static_cast<int>(ExitCode::kSessionBusy));
}

// The arm that is stopped, the one that runs, and what one of them has started.
class CompareIsEnded : public Compare, public ::testing::WithParamInterface<int> {};

TEST_P(CompareIsEnded, NobodyIsLeft) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // what outlives the program becomes our child
  FakePython python;
  const std::string began = dir_ / "began";
  // What an arm has started itself is ended with it, unless nobody is left to do so.
  python.openvino = std::string(GetParam() == SIGKILL ? "" : "sleep 1000 & ") + "echo ready 1; read -r a; touch " + began + "; exec sleep 1000";
  std::vector<std::string> arguments = words(python, session_, {"--quiet"});
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  for (int i = 0; i < 3000 && !fs::exists(began); ++i) std::this_thread::sleep_for(20ms);
  ASSERT_TRUE(fs::exists(began));
  kill(pid, GetParam());
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  if (GetParam() == SIGINT) {
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::kInterrupted));
  }
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  for (pid_t left = 0; (left = waitpid(-1, &status, WNOHANG)) >= 0;) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "a process outlives the program";
    if (left == 0) std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(Session::open(session_, Session::Access::kWrite)->compared().empty());
}
INSTANTIATE_TEST_SUITE_P(By, CompareIsEnded, ::testing::Values(SIGINT, SIGTERM, SIGKILL));

// The texts of the arms, run by the machine's python3 on modules that only look like NumPy and ONNX Runtime.
TEST_F(Compare, TheArmOfOnnxRuntimeSpeaksTheProtocol) {
  if (!run_subprocess({"python3", "--version"}).ok()) GTEST_SKIP() << "no python3: apt-get install python3";
  const fs::path modules = fs::path(dir_ / "modules");
  for (const char* name : {"numpy-9.1", "onnxruntime-9.2"}) {
    fs::create_directories(modules / (std::string(name) + ".dist-info"));
    const std::string text = name, distribution = text.substr(0, text.find('-')), version = text.substr(text.find('-') + 1);
    std::ofstream(modules / (text + ".dist-info") / "METADATA") << "Metadata-Version: 2.1\nName: " << distribution << "\nVersion: " << version << "\n";
  }
  std::ofstream(modules / "numpy.py") << "import shutil, os\n"
                                         "class A:\n  shape = (1, 16)\n"
                                         "def load(path): return A()\ndef zeros_like(a): return a\ndef asarray(a): return a\n"
                                         "def save(path, a): shutil.copy(os.environ['FAKE_NPY'], path)\n";
  std::ofstream(modules / "onnxruntime.py")
      << "print('a library that prints')\n"
         "class V:\n  name, shape = 'logits', (1, 16)\n  def numpy(self): return self\n"
         "class OrtValue:\n  @staticmethod\n  def ortvalue_from_numpy(a): return V()\n"
         "class GraphOptimizationLevel: ORT_ENABLE_ALL, ORT_DISABLE_ALL = 1, 0\n"
         "class SessionOptions:\n  def add_session_config_entry(self, *a): pass\n  def add_free_dimension_override_by_name(self, *a): pass\n"
         "class B:\n  def bind_ortvalue_input(self, *a): pass\n  def bind_ortvalue_output(self, *a): pass\n"
         "class InferenceSession:\n  def __init__(self, *a, **k): pass\n  def get_inputs(self): return []\n  def get_outputs(self): return [V()]\n"
         "  def io_binding(self): return B()\n  def run(self, *a): return [V()]\n  def run_with_iobinding(self, b): pass\n";
  const std::string other = dir_ / "other.npy";
  save_npy(Tensor::of<float>(DType::kF32, {2}, {1, 2}), other);
  const SubprocessResult r = run_subprocess({program(), "compare", session_, "--rounds", "2", "--only", "onnxruntime,openvino f32", "--quiet"}, {120}, "",
                                            {"", {"PYTHONPATH=" + modules.string(), "FAKE_NPY=" + other}, nullptr, true});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  const std::vector<ComparedArm> rows = this->rows();
  EXPECT_EQ(row(rows, "onnxruntime").version, "9.2");
  EXPECT_EQ(row(rows, "onnxruntime").round_seconds.size(), 2u) << row(rows, "onnxruntime").reason;
  EXPECT_HAS(row(rows, "onnxruntime").reason, "computes something else");
}

// AMDAHL_PEERS_PYTHON=PYTHON cli_test --gtest_filter='Compare.*': with an interpreter that has the runtimes themselves.
TEST_F(Compare, RealRuntimesComputeTheSame) {
  const char* python = std::getenv("AMDAHL_PEERS_PYTHON");
  if (!python) GTEST_SKIP() << "AMDAHL_PEERS_PYTHON names no interpreter that has numpy, onnxruntime, openvino, torch and transformers";
  const SubprocessResult r = run_subprocess({program(), "compare", session_, "--rounds", "2", "--python", python, "--quiet"}, {600});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  for (const ComparedArm& row : rows()) {
    EXPECT_EQ(row.reason, "") << row.arm;
    EXPECT_LT(row.difference.value_or(0), 1e-5) << row.arm;
  }
}

}  // namespace
}  // namespace amdahl

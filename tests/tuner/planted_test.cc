// Bad candidates, planted: each ends as exactly one Outcome with its reason, and the bench goes on with the next.

#include <gtest/gtest.h>

#include "base/random.h"
#include "tuner/window_bench.h"

namespace amdahl {
namespace {

constexpr int64_t kM = 8, kK = 64, kN = 32;

Graph matmul_graph() {
  Graph g;
  const ValueId x = g.add_value("x", DType::kF32, {kM, kK});
  std::vector<float> w(kK * kN);
  Random random(3);
  for (float& v : w) v = static_cast<float>(random.normal());
  const ValueId weight = g.add_constant("w", Tensor::of(DType::kF32, {kK, kN}, w));
  const ValueId y = g.add_value("y", DType::kF32, {kM, kN});
  Node node;
  node.name = "mm";
  node.op = "MatMul";
  node.version = 13;
  node.inputs = {x, weight};
  node.outputs = {y};
  g.nodes.push_back(node);
  g.inputs = {x};
  g.outputs = {y};
  return g;
}

// A kernel with `body` in place of amdahl_run's; `honest()` computes the product.
std::string kernel(const std::string& body, const std::string& headers = "") {
  return headers + R"(
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <unistd.h>
#include <fcntl.h>
#include <signal.h>
extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}
constexpr int M = 8, K = 64, N = 32;
static void honest(const float* x, const float* w, float* y, int rows = M, int cols = N, int depth = K) {
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < cols; ++n) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += x[m * K + k] * w[k * N + n];
      y[m * N + n] = sum;
    }
}
static int calls = 0;
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const float* x = static_cast<const float*>(in[0]);
  const float* w = static_cast<const float*>(in[1]);
  float* y = static_cast<float*>(out[0]);
  ++calls;
)" + body + "\n}\n";
}

class Planted : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    graph_ = new Graph(matmul_graph());
    builder_ = new Builder(std::make_shared<const Toolchain>(default_cache_dir(), Toolchain::Sources::kAny), 2, nullptr);
    BenchOptions options;
    options.worker.threads = 2;
    options.race_seconds = 0.01;
    options.loser_margin = 1e9;  // every candidate goes all the way
    options.worker.memory_bytes = int64_t{1} << 30;
    bench_ = new WindowBench(*graph_, *builder_, options);
    plan_ = new Plan(starter_plan(*graph_, 2));
    WindowTask task;
    const Window window{{0}};
    task.signature = signature(*graph_, *plan_, window);
    task.io = io_of(*graph_, *plan_, window);
    task.incumbent = plan_->steps;
    task.threads = 2;
    ASSERT_EQ(bench_->enter(task), "");
  }

  struct Ended {
    std::string outcome, stage, reason;
  };
  Ended end_of(const std::string& source) {
    std::vector<Step> steps = plan_->steps;
    steps[0].variant.source_override = source;
    const Built built = builder_->build({steps})[0];
    if (!built.ok) return {"build-failed", "build", built.message};
    const Screened s = bench_->screen(steps, built, 0);
    if (!s.failure) return {"passed", "", ""};
    return {std::string(name_of(s.failure->outcome)), s.failure->stage, s.failure->reason};
  }
  void expect(const std::string& body, const std::string& outcome, const std::string& stage, const std::string& reason,
              const std::string& headers = "") {
    const Ended e = end_of(kernel(body, headers));
    EXPECT_EQ(e.outcome, outcome) << e.stage << ": " << e.reason;
    EXPECT_EQ(e.stage, stage) << e.reason;
    EXPECT_NE(e.reason.find(reason), std::string::npos) << e.reason;
    // The run goes on.
    EXPECT_EQ(end_of(kernel("honest(x, w, y);")).outcome, "passed");
  }

  static Graph* graph_;
  static Builder* builder_;
  static WindowBench* bench_;
  static Plan* plan_;
};
Graph* Planted::graph_;
Builder* Planted::builder_;
WindowBench* Planted::bench_;
Plan* Planted::plan_;

TEST_F(Planted, HonestPasses) {
  const Ended e = end_of(kernel("honest(x, w, y);"));
  EXPECT_EQ(e.outcome, "passed") << e.stage << ": " << e.reason;
}

TEST_F(Planted, CompileError) {
  const Ended e = end_of(kernel("this is not C++;"));
  EXPECT_EQ(e.outcome, "build-failed");
  EXPECT_NE(e.reason.find("error"), std::string::npos) << e.reason;
}

TEST_F(Planted, NullWrite) { expect("*(volatile int*)nullptr = 1;", "crashed", "smoke", "SIGSEGV: write of null"); }
TEST_F(Planted, Hang) { expect("for (;;) asm volatile(\"\");", "timed-out", "smoke", "killed"); }
TEST_F(Planted, HangAfterAFewCalls) {
  expect("honest(x, w, y); if (calls == 4) for (;;) asm volatile(\"\");", "timed-out", "race", "killed");
}
TEST_F(Planted, AllocationBomb) {
  expect("honest(x, w, y); for (;;) { volatile char* p = (volatile char*)malloc(64 << 20); for (size_t i = 0; i < (64 << 20); i += 4096) p[i] = 1; }",
         "crashed", "smoke", "memory limit");
}
TEST_F(Planted, ThrowingAllocationBomb) {
  expect("honest(x, w, y); for (;;) { volatile char* p = new char[256 << 20]; p[0] = 1; }", "crashed", "smoke",
         "memory limit");
}
TEST_F(Planted, WrongEverywhere) { expect("honest(x, w, y); for (int i = 0; i < M * N; ++i) y[i] *= 1.001f;", "wrong", "smoke", "should be"); }
TEST_F(Planted, SkipsTheLastSliceOfK) { expect("honest(x, w, y, M, N, K - 1);", "wrong", "smoke", "'y'["); }
TEST_F(Planted, WritesNothing) { expect("", "wrong", "smoke", "256 elements of 'y' were not written"); }
TEST_F(Planted, SkipsTheTail) { expect("honest(x, w, y, M - 1, N);", "wrong", "smoke", "32 elements of 'y' were not written"); }
TEST_F(Planted, Zeros) { expect("for (int i = 0; i < M * N; ++i) y[i] = 0;", "wrong", "smoke", "should be"); }
TEST_F(Planted, WritesPastTheEnd) { expect("honest(x, w, y); ((volatile float*)y)[M * N] = 1;", "crashed", "smoke", "write, 0 bytes past the end of 'y'"); }
TEST_F(Planted, WritesBeforeTheStart) {
  expect("honest(x, w, y); ((volatile float*)y)[-1] = 1;", "mistrusted", "smoke", "beside an output");
}
TEST_F(Planted, ReadsPastTheEnd) {
  expect("honest(x, w, y); volatile float s = ((volatile const float*)x)[M * K];", "crashed", "smoke", "read, 0 bytes past the end of 'x'");
}
TEST_F(Planted, WritesItsInput) { expect("honest(x, w, y); ((volatile float*)x)[5] = 1;", "crashed", "smoke", "into read-only 'x'"); }
TEST_F(Planted, WritesItsWeights) { expect("honest(x, w, y); ((volatile float*)w)[0] = 1;", "crashed", "smoke", "read-only 'w'"); }
TEST_F(Planted, AssumesAlignment) {
  expect("honest(x, w, y); auto v = reinterpret_cast<volatile __m512*>(y); __m512 t = *v; *v = t;", "crashed", "shapes", "SIGSEGV",
         "#include <immintrin.h>\n");
}
TEST_F(Planted, HalfPrecision) {
  expect(R"(for (int m = 0; m < M; ++m) for (int n = 0; n < N; ++n) { float s = 0;
            for (int k = 0; k < K; ++k) s += (float)(_Float16)x[m * K + k] * (float)(_Float16)w[k * N + n]; y[m * N + n] = s; })",
         "wrong", "smoke", "should be");
}
TEST_F(Planted, Fork) { expect("honest(x, w, y); if (fork() == 0) _exit(0);", "mistrusted", "smoke", "SIGSYS"); }
TEST_F(Planted, Socket) { expect("honest(x, w, y); socket(AF_INET, SOCK_STREAM, 0);", "mistrusted", "smoke", "SIGSYS", "#include <sys/socket.h>\n"); }
TEST_F(Planted, OpensAFileForWriting) { expect("honest(x, w, y); open(\"/tmp/x\", O_WRONLY | O_CREAT, 0600);", "mistrusted", "smoke", "SIGSYS"); }
TEST_F(Planted, ExitsCleanly) { expect("honest(x, w, y); _exit(0);", "crashed", "smoke", "exited with status 0"); }
TEST_F(Planted, Aborts) { expect("abort();", "crashed", "smoke", "SIGABRT"); }
TEST_F(Planted, CountsItsCalls) { expect("honest(x, w, y); if (calls > 3) y[7] += 1;", "wrong", "race", "not what the incumbent gives"); }
TEST_F(Planted, DependsOnCallNumber) {
  expect("honest(x, w, y); y[3] *= 1 + 1e-7f * (calls % 8);", "wrong", "determinism", "other bits");
}
TEST_F(Planted, RemembersResultsByAddress) {
  expect("static const float* seen = nullptr; static float kept[M * N]; if (seen != x) { honest(x, w, kept); seen = x; }"
         "for (int i = 0; i < M * N; ++i) y[i] = kept[i];",
         "wrong", "race", "not what the incumbent gives");
}
// Honest while it is judged: an address must have come 50 times. Only many calls can show it.
TEST_F(Planted, RemembersResultsByAddressOnceItIsTimed) {
  expect("static struct { const float* x; int times; float y[M * N]; } slots[64]; int s = 0;"
         "while (s < 63 && slots[s].x && slots[s].x != x) ++s; if (slots[s].x != x) { slots[s].x = x; slots[s].times = 0; }"
         "if (++slots[s].times <= 50) honest(x, w, slots[s].y); for (int i = 0; i < M * N; ++i) y[i] = slots[s].y[i];",
         "wrong", "conduct", "should be");
}
TEST_F(Planted, FlushesDenormals) { expect("honest(x, w, y); _mm_setcsr(_mm_getcsr() | 0x8040);", "mistrusted", "conduct", "control word", "#include <immintrin.h>\n"); }
TEST_F(Planted, LeavesFilesOpen) { expect("honest(x, w, y); open(\"/proc/self/maps\", O_RDONLY);", "mistrusted", "smoke", "SIGSYS"); }
TEST_F(Planted, ChangesSignalHandlers) { expect("honest(x, w, y); signal(SIGUSR1, [](int) {});", "mistrusted", "conduct", "what signals do"); }
TEST_F(Planted, LeavesThreadsBehind) {
  expect("honest(x, w, y); if (calls <= 3) std::thread([] { for (;;) usleep(1000); }).detach();", "mistrusted", "conduct", "threads",
         "#include <thread>\n");
}
TEST_F(Planted, PrintsBytesThatLookLikeReplies) {
  const Ended e = end_of(kernel("honest(x, w, y); const char t[] = \"AMF1\\x02\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0{}\"; (void)!write(1, t, sizeof t);"));
  EXPECT_EQ(e.outcome, "passed") << e.reason;  // standard output is not the line to the supervisor
}

}  // namespace
}  // namespace amdahl

// Hostile sources, with nothing but the wall in their way: the compiler is run directly, without source_rules.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/no_network.h"
#include "base/statistics.h"
#include "starter_kernels/toolchain/confined_compiler.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecret = "TheSecretThatNoKernelMaySee";

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class CompileSandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string weakness = ConfinedCompiler::weakness(); !weakness.empty()) GTEST_SKIP() << weakness;
    dir_ = fs::temp_directory_path() / ("amdahl-compile-" + std::to_string(getpid()));
    fs::create_directories(dir_ / "work");
    std::ofstream(dir_ / "secret") << "const char* secret = \"" << kSecret << "\";\n";
  }
  void TearDown() override {
    if (!dir_.empty()) fs::remove_all(dir_);
  }

  SubprocessResult compile(const std::string& text, const CompileLimits& limits = {}, const std::vector<std::string>& more = {}) {
    std::ofstream(dir_ / "work" / "kernel.cpp") << text;
    std::vector<std::string> arguments{"-std=gnu++20", "-O2", "-shared", "-fPIC", "-o", "kernel.so", "kernel.cpp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return ConfinedCompiler("g++").run(arguments, dir_ / "work", limits);
  }
  bool secret_is_out(const SubprocessResult& r) {
    if (r.output.find(kSecret) != std::string::npos) return true;
    for (const auto& entry : fs::recursive_directory_iterator(dir_ / "work"))
      if (entry.is_regular_file() && read_file(entry.path()).find(kSecret) != std::string::npos) return true;
    return false;
  }
  std::string secret() const { return (dir_ / "secret").string(); }

  fs::path dir_;
};

TEST_F(CompileSandbox, HonestSourcesBuild) {
  const SubprocessResult r =
      compile("#include <cmath>\n#include <omp.h>\nfloat f(float x) { return std::exp(x) + omp_get_max_threads(); }\n", {}, {"-fopenmp", "-march=native"});
  EXPECT_TRUE(r.ok()) << r.output;
  EXPECT_TRUE(fs::exists(dir_ / "work" / "kernel.so"));
}

TEST_F(CompileSandbox, NothingOutsideIsRead) {
  for (const std::string& text : std::vector<std::string>{
           "#include \"" + secret() + "\"\n",
           "#include <" + secret() + ">\n",
           "#define X \"" + secret() + "\"\n#include X\n",
           "#include \"../secret\"\n",
           "asm(\".incbin \\\"" + secret() + "\\\"\");\n",
           "asm(\".section .rodata\\n.include \\\"" + secret() + "\\\"\");\n",
       }) {
    const SubprocessResult r = compile(text);
    EXPECT_FALSE(r.ok()) << text;
    EXPECT_TRUE(r.output.find("ermission denied") != std::string::npos || r.output.find("file not found") != std::string::npos) << text << r.output;
    EXPECT_FALSE(secret_is_out(r)) << text << r.output;
  }
}

// The same sources build where nothing keeps them from it: it is the wall that the test above sees.
TEST_F(CompileSandbox, WithoutTheWallItIsRead) {
  std::ofstream(dir_ / "work" / "kernel.cpp") << "asm(\".incbin \\\"" + secret() + "\\\"\");\n";
  SubprocessSurroundings around;
  around.folder = dir_ / "work";
  const SubprocessResult r = run_subprocess({"g++", "-shared", "-fPIC", "-o", "kernel.so", "kernel.cpp"}, {60}, {}, around);
  EXPECT_TRUE(r.ok()) << r.output;
  EXPECT_TRUE(secret_is_out(r));
}

TEST_F(CompileSandbox, LinksAndHomesAreOutside) {
  fs::create_symlink(secret(), dir_ / "work" / "link");
  EXPECT_FALSE(compile("#include \"link\"\n").ok());
  EXPECT_FALSE(compile("asm(\".incbin \\\"/etc/passwd\\\"\");\n").ok());
  EXPECT_FALSE(compile("asm(\".incbin \\\"/proc/self/environ\\\"\");\n").ok());
}

TEST_F(CompileSandbox, NothingOutsideIsWritten) {
  const std::string out = (dir_ / "outside.txt").string();
  const SubprocessResult r = compile("int x;\n", {}, {"-MD", "-MF", out});
  EXPECT_FALSE(r.ok());
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(CompileSandbox, TimeBombsEnd) {
  const SubprocessResult r = compile(
      "template <int A, int B> struct F { static constexpr long v = F<A - 1, B>::v + F<A - 1, B + 1>::v; };\n"
      "template <int B> struct F<0, B> { static constexpr long v = B; };\n"
      "constexpr int spin() { int n = 0; for (long i = 0; i < 1L << 60; ++i) n += i & 1; return n; }\n"
      "constexpr int x = spin();\nlong y = F<850, 0>::v + x;\n",
      {1.0, int64_t{2} << 30}, {"-fconstexpr-loop-limit=2147483647", "-fconstexpr-ops-limit=9223372036854775807"});
  EXPECT_TRUE(r.timed_out);
  EXPECT_LT(r.seconds, 5);
}

TEST_F(CompileSandbox, MemoryBombsEnd) {
  std::string bomb = "#define A0 1,\n";
  for (int i = 1; i <= 12; ++i)
    bomb += "#define A" + std::to_string(i) + " " + [&] {
      std::string s;
      for (int k = 0; k < 8; ++k) s += "A" + std::to_string(i - 1) + " ";
      return s;
    }() + "\n";
  const SubprocessResult r = compile(bomb + "int x[] = { A12 };\n", {30, int64_t{256} << 20});
  EXPECT_FALSE(r.ok());
  EXPECT_FALSE(r.timed_out) << "it met its memory limit first";
  EXPECT_NE(r.output.find("memory"), std::string::npos) << r.output;
}

TEST_F(CompileSandbox, LargeFilesEnd) {
  const SubprocessResult r = compile("asm(\".data\\n.fill 1000000000, 1, 65\");\n", {60, int64_t{4} << 30});
  EXPECT_FALSE(r.ok());
  EXPECT_TRUE(r.output.find("File too large") != std::string::npos || r.output.find("File size limit") != std::string::npos) << r.output;
  for (const auto& entry : fs::recursive_directory_iterator(dir_ / "work")) EXPECT_LE(fs::file_size(entry.path()), size_t{256} << 20);
}

TEST_F(CompileSandbox, SocketsAreRefused) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (socket(AF_INET, SOCK_STREAM, 0) < 0) _exit(2);
    if (!close_network()) _exit(3);
    _exit(socket(AF_INET, SOCK_STREAM, 0) < 0 && socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The same through the toolchain, which says what became of a source in one word.
class ToolchainCodes : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-codes-" + std::to_string(getpid()));
    fs::create_directories(dir_ / "bin");
  }
  void TearDown() override {
    if (!path_.empty()) setenv("PATH", path_.c_str(), 1);
    fs::remove_all(dir_);
  }
  // A g++ of ours, first in PATH.
  void install(const std::string& script) {
    std::ofstream(dir_ / "bin" / "g++") << "#!/bin/sh\n" << script << "\n";
    fs::permissions(dir_ / "bin" / "g++", fs::perms::owner_all);
    if (!path_.empty()) return;
    path_ = std::getenv("PATH");
    setenv("PATH", ((dir_ / "bin").string() + ":" + path_).c_str(), 1);
  }
  std::string cache() const { return dir_ / "cache"; }
  CompileResult compile(const std::string& text, const CompileLimits& limits = {}) { return CpuToolchain(cache()).compile_source(text, Variant{}, limits); }
  int left_over() const {
    int n = 0;
    for (const auto& entry : fs::directory_iterator(dir_ / "cache" / "kernels")) n += entry.is_directory();
    return n;
  }
  fs::path dir_;
  std::string path_;
};

TEST_F(ToolchainCodes, NameWhatBecameOfASource) {
  EXPECT_EQ(compile("int x;\n").code, "");
  EXPECT_TRUE(compile("int x;\n").cached);
  const CompileResult wrong = compile("int x = ;\n");
  EXPECT_EQ(wrong.code, "compile-error");
  EXPECT_NE(wrong.message.find("error:"), std::string::npos) << wrong.message;
  EXPECT_EQ(compile("#include \"/etc/passwd\"\n").code, "source-refused");
  EXPECT_EQ(compile("#error virtual memory exhausted\n").code, "build-limit") << "a lie that only hurts the liar";
  Variant other;
  other.compiler = "clang++";  // as an older session may say
  EXPECT_EQ(CpuToolchain(cache()).compile_source("int x;\n", other).code, "no-compiler");
  EXPECT_EQ(left_over(), 0);
}

// A disk that was full, or somebody's hand: to load what is left of a library would end the process.
TEST_F(ToolchainCodes, ALibraryThatIsCutOffIsCompiledAgain) {
  const std::string library = compile("int x;\n").library;
  const auto whole = fs::file_size(library);
  fs::resize_file(library, whole / 2);
  const CompileResult again = compile("int x;\n");
  EXPECT_TRUE(again.ok && !again.cached) << again.message;
  EXPECT_EQ(fs::file_size(again.library), whole);
}

TEST_F(ToolchainCodes, ACompilerThatHangsOnOneSource) {
  install("grep -q bomb kernel.cpp 2>/dev/null && exec sleep 100\nexec /usr/bin/g++ \"$@\"");
  const CompileResult r = compile("int bomb;\n", {0.5, 0});
  EXPECT_EQ(r.code, "build-limit") << r.message;
  EXPECT_TRUE(r.timed_out);
  EXPECT_TRUE(compile("int x;\n").ok);
  EXPECT_EQ(left_over(), 0);
}

TEST_F(ToolchainCodes, ACompilerThatHangsOnAllIsNobodysFault) {
  install("[ \"$1\" = --version ] && exec /usr/bin/g++ --version\nexec sleep 100");
  try {
    compile("int x;\n", {0.5, 0});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kNoCompiler);
    EXPECT_NE(std::string(e.what()).find("hangs"), std::string::npos) << e.what();
  }
  EXPECT_EQ(left_over(), 0);
}

TEST_F(ToolchainCodes, ACompilerThatGoesAway) {
  install("exec /usr/bin/g++ \"$@\"");
  const CpuToolchain toolchain(cache());
  EXPECT_TRUE(toolchain.compile_source("int x;\n", Variant{}).ok);
  install("exit 127");
  EXPECT_TRUE(toolchain.compile_source("int x;\n", Variant{}).ok) << "what is in the cache needs no compiler";
  try {
    toolchain.compile_source("int y;\n", Variant{});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kNoCompiler);
  }
}

TEST_F(ToolchainCodes, LeftoversOfKilledBuildsAreRemoved) {
  CpuToolchain{cache()};
  const fs::path old = dir_ / "cache" / "kernels" / "building.999999999.0";
  const fs::path fresh = dir_ / "cache" / "kernels" / "building.999999999.1";
  fs::create_directories(old / "below");
  fs::create_directories(fresh);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CpuToolchain{cache()};
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

// Not a test of time: prints what the wall costs. AMDAHL_COMPILES=20 makes it a measurement.
TEST_F(CompileSandbox, CostsLittle) {
  const char* asked = std::getenv("AMDAHL_COMPILES");
  const int compiles = asked ? std::atoi(asked) : 2;
  std::string text = "#include <stddef.h>\n#include <math.h>\n";
  for (int i = 0; i < 20; ++i)
    text += "void f" + std::to_string(i) + "(const float* a, float* b) {\n#pragma omp simd\n  for (size_t i = 0; i < 1024; ++i) b[i] = a[i] * " +
            std::to_string(i) + " + expf(a[i]);\n}\n";
  std::vector<double> with, without;
  for (int i = 0; i < compiles; ++i) {
    const SubprocessResult inside = compile(text, {}, {"-O3", "-march=native", "-fopenmp"});
    ASSERT_TRUE(inside.ok()) << inside.output;
    with.push_back(inside.seconds);
    SubprocessSurroundings around;
    around.folder = dir_ / "work";
    without.push_back(run_subprocess({"g++", "-std=gnu++20", "-O2", "-shared", "-fPIC", "-o", "kernel.so", "kernel.cpp", "-O3", "-march=native", "-fopenmp"},
                                     {60, int64_t{2} << 30}, {}, around)
                          .seconds);
  }
  std::printf("%d compiles each, interleaved: %.1f ms with the wall, %.1f ms without (medians)\n", compiles, 1e3 * median(with), 1e3 * median(without));
}

}  // namespace
}  // namespace amdahl

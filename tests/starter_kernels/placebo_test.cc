// Placebo builds must differ from the kernel by their addresses and by nothing else.

#include "starter_kernels/toolchain/placebo.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "base/subprocess.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

TEST(PadFunctions, PadsInFrontOfFunctionsOnly) {
  const std::string text =
      "\t.text\n\t.p2align 4\n\t.globl\tf\n\t.type\tf, @function\nf:\n\tret\n"
      "\t.type\talias, @function\n\t.set\talias,f\n\t.type\ttable, @object\ntable:\n\t.zero 4\n"
      "\t.p2align 6\n\t.type\tg, @function\ng:\n\tret\n";
  const std::string padded = pad_functions(text, 3);
  const auto count = [&](const std::string& what) {
    size_t n = 0;
    for (size_t at = padded.find(what); at != std::string::npos; at = padded.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count(".skip"), 2u);
  EXPECT_NE(padded.find("\t.p2align 4\n\t.type\tf, @function\nf:"), std::string::npos);
  EXPECT_NE(padded.find("\t.p2align 6\n\t.type\tg, @function\ng:"), std::string::npos);  // its own alignment
  EXPECT_EQ(std::regex_replace(padded, std::regex("\t.skip [0-9]+, 0x90\n\t.p2align [0-9]\n"), ""), text);
}

TEST(PadFunctions, FollowsItsSeed) {
  const std::string text = "\t.type\tf, @function\nf:\n\tret\n";
  EXPECT_EQ(pad_functions(text, 1), pad_functions(text, 1));
  std::set<std::string> different;
  for (uint64_t seed = 0; seed < 20; ++seed) different.insert(pad_functions(text, seed));
  EXPECT_GT(different.size(), 15u);
}

struct Function {
  std::string address;
  std::vector<std::string> instructions;  // addresses taken out, trailing padding too
};

std::map<std::string, Function> functions_of(const std::string& library) {
  // One-byte nops are the runs that are never executed: too many for a pipe.
  const std::string listing = library + ".txt";
  const SubprocessResult r =
      run_subprocess({"sh", "-c", "objdump -d --no-show-raw-insn -j .text " + library + " | grep -v '[[:space:]]nop$' > " + listing}, {20});
  EXPECT_TRUE(r.ok()) << r.output.substr(0, 300);
  const std::regex head("^([0-9a-f]+) <(.*)>:$"), line("^ *[0-9a-f]+:\t(.*)$");
  // Targets keep their symbol and offset; data is reached relative to the instruction, so the distance is an address too.
  const std::regex target("[0-9a-f]+ (<[^>]*>)"), distance("-?0x[0-9a-f]+\\(%rip\\).*");
  std::map<std::string, Function> functions;
  Function* now = nullptr;
  std::ifstream in(listing);
  for (std::string text; std::getline(in, text);) {
    std::smatch m;
    if (std::regex_match(text, m, head)) {
      now = &functions[m[2]];
      now->address = m[1];
    } else if (now && std::regex_match(text, m, line)) {
      now->instructions.push_back(std::regex_replace(std::regex_replace(m[1].str(), target, "$1"), distance, "(%rip)"));
    }
  }
  const auto is_padding = [](const std::string& i) { return i.find("nop") != std::string::npos || i.rfind("xchg   %ax,%ax", 0) == 0; };
  for (auto& [name, f] : functions)
    while (!f.instructions.empty() && is_padding(f.instructions.back())) f.instructions.pop_back();
  return functions;
}

class PlaceboBuilds : public ::testing::Test {
 protected:
  PlaceboBuilds() {
    char name[] = "/tmp/amdahl-placebo-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~PlaceboBuilds() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(PlaceboBuilds, HaveTheKernelsMachineCodeAtOtherAddresses) {
  const CpuToolchain toolchain(folder_);
  for (const char* kind : {"matmul", "softmax"}) {
    const Graph graph = kernel_kind(kind).examples().front();
    Variant variant = lower_node(graph, graph.nodes.back(), 2, cpu_target()).variant;
    const CompileResult plain = toolchain.compile(variant);
    ASSERT_TRUE(plain.ok) << plain.message;
    const std::map<std::string, Function> as_written = functions_of(plain.library);
    ASSERT_GT(as_written.at("amdahl_run").instructions.size(), 5u);
    std::set<std::string> addresses{as_written.at("amdahl_run").address};
    for (int number = 1; number <= 3; ++number) {
      const CompileResult placebo = toolchain.compile_placebo(variant, number);
      ASSERT_TRUE(placebo.ok) << placebo.message;
      EXPECT_NE(placebo.library, plain.library);
      const std::map<std::string, Function> padded = functions_of(placebo.library);
      EXPECT_EQ(padded.size(), as_written.size());
      for (const auto& [name, f] : as_written) {
        ASSERT_EQ(padded.count(name), 1u) << name;
        EXPECT_TRUE(padded.at(name).instructions == f.instructions) << kind << ": " << name << " differs in build " << number;
      }
      addresses.insert(padded.at("amdahl_run").address);
    }
    EXPECT_GE(addresses.size(), 3u) << kind;
  }
}

TEST_F(PlaceboBuilds, AreCached) {
  const CpuToolchain toolchain(folder_);
  const Graph graph = kernel_kind("softmax").examples().front();
  Variant variant = lower_node(graph, graph.nodes.back(), 1, cpu_target()).variant;
  EXPECT_FALSE(toolchain.compile_placebo(variant, 1).cached);
  EXPECT_TRUE(toolchain.compile_placebo(variant, 1).cached);
  EXPECT_FALSE(toolchain.compile_placebo(variant, 2).cached);
}

TEST_F(PlaceboBuilds, OfABadKernelSayWhatTheCompilerSaid) {
  const CpuToolchain toolchain(folder_);
  Variant variant;
  variant.source_override = "int amdahl_run( {";
  const CompileResult r = toolchain.compile_placebo(variant, 1);
  EXPECT_FALSE(r.ok);
  EXPECT_NE(r.message.find("error"), std::string::npos) << r.message;
}

}  // namespace
}  // namespace amdahl

// What is in a library, and what it may ask of others, is judged from its file alone, and the file is not trusted.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/elf.h"
#include "base/random.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "starter_kernels/toolchain/machine_code.h"
#include "starter_kernels/toolchain/x86_instruction.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

constexpr const char* kHonest = R"(
#include <stddef.h>
extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
#pragma omp parallel for
  for (int i = 0; i < 64; ++i) static_cast<float*>(out[0])[i] = static_cast<const float*>(in[0])[i] * 2;
}
)";

CompileResult compiled(const std::string& text, KernelRules rules = KernelRules::kAll) {
  static const std::string cache = default_cache_dir();
  return CpuToolchain(cache, rules).compile_source(text, {});
}

std::string honest_library() {
  const CompileResult r = compiled(kHonest);
  EXPECT_TRUE(r.ok) << r.message;
  return r.library;
}

// What the rules say of a library that was built without them.
LibraryRefusal judged(const std::string& text, bool own = false) {
  const CompileResult r = compiled(text, KernelRules::kSymbolsAlone);
  EXPECT_TRUE(r.ok) << r.message;
  return refused_library(r.library, own);
}

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(LibraryRules, AnHonestKernelPasses) { EXPECT_EQ(refused_library(honest_library(), false).reason, ""); }

TEST(LibraryRules, ThisProgramAsksForMore) { EXPECT_EQ(refused_library("/proc/self/exe", true).code, "forbidden-symbol"); }

TEST(LibraryRules, WhatIsNoLibraryIsRefused) {
  const testing::TemporaryFolder folder;
  for (const std::string& path :
       {std::string(folder / "missing.so"), std::string(folder.write("empty.so", "")), std::string(folder.write("text.so", "no library at all"))})
    EXPECT_EQ(refused_library(path, true).code, "odd-library") << path;
}

// Nothing that sleeps, yields or tells one process from another.
TEST(LibraryRules, CallsBeyondArithmeticAreRefused) {
  for (const std::string name : {"sched_yield",
                                 "sched_getcpu",
                                 "usleep",
                                 "nanosleep",
                                 "getpid",
                                 "getenv",
                                 "syscall",
                                 "dlsym",
                                 "clock_gettime",
                                 "mprotect",
                                 "pthread_yield",
                                 "pthread_cond_timedwait",
                                 "raise",
                                 "signal",
                                 "pthread_cond_wait",
                                 "_Unwind_Backtrace",
                                 "secure_getenv",
                                 "getauxval",
                                 "environ",
                                 "omp_get_wtime",
                                 "omp_set_num_threads"}) {
    const CompileResult r = compiled(fmt::format("extern \"C\" int {0}(void);\nextern \"C\" int f() {{ return {0}(); }}\n", name));
    EXPECT_EQ(r.code, "forbidden-symbol") << name << ": " << r.message;
    EXPECT_NE(r.message.find("'" + name + "'"), std::string::npos) << r.message;
  }
}

TEST(LibraryRules, WhatWasRefusedIsNotInTheCache) {
  const std::string text = "extern \"C\" int getppid(void);\nextern \"C\" int f() { return getppid(); }\n";
  for (int times = 0; times < 2; ++times) EXPECT_EQ(compiled(text).code, "forbidden-symbol");
  EXPECT_TRUE(compiled("int f() { return 1; }\n").ok);
}

#if defined(__x86_64__)

// The first instruction that is refused in each of these, as functions of one library.
std::vector<std::string> first_refused(const std::vector<std::string>& assemblies) {
  std::string text;
  for (size_t i = 0; i < assemblies.size(); ++i) text += fmt::format("extern \"C\" void f{}() {{ asm volatile(\"{}\"); }}\n", i, assemblies[i]);
  const CompileResult r = compiled(text, KernelRules::kSymbolsAlone);
  EXPECT_TRUE(r.ok) << r.message;
  const auto elf = ElfFile::read(r.library);
  std::vector<std::string> refused(assemblies.size(), "no such function");
  for (const ElfFile::Section& section : elf->sections()) {
    if (section.name != ".text") continue;
    for (const ElfFile::Symbol& s : elf->dynamic_symbols()) {
      if (!s.defined || s.name[0] != 'f') continue;
      std::string& first = refused.at(std::stoul(std::string(s.name.substr(1))));
      first.clear();
      size_t step = 0;
      for (size_t at = s.address - section.address, end = at + s.bytes; at < end && first.empty(); at += step) {
        const X86Instruction i = x86_instruction(section.contents.substr(at), false);
        first = i.bytes == 0 ? "none" : i.refused;
        step = i.bytes;
      }
    }
  }
  return refused;
}

TEST(MachineCode, InstructionsThatDoNotComputeAreRefused) {
  const std::vector<std::string> assemblies{"syscall",
                                            "sysenter",
                                            "int $0x80",
                                            "int $4",
                                            "rdtsc",
                                            "rdtscp",
                                            "rdpmc",
                                            "cpuid",
                                            "xgetbv",
                                            "rdrand %rax",
                                            "rdseed %rax",
                                            "clflush (%rax)",
                                            "clflushopt (%rax)",
                                            "clwb (%rax)",
                                            "cldemote (%rax)",
                                            "xbegin 1f; 1:",
                                            "xabort $1",
                                            "xtest",
                                            "popfq",
                                            "rdfsbase %rax",
                                            "wrfsbase %rax",
                                            "wrgsbase %rax",
                                            "rdpid %rax",
                                            "mwait",
                                            "monitor",
                                            "tpause %eax",
                                            "umwait %eax",
                                            "wrpkru",
                                            "rdpkru",
                                            "serialize",
                                            "inb $1, %al",
                                            "outb %al, $1",
                                            "hlt",
                                            "cli",
                                            "wrmsr",
                                            "rdmsr",
                                            "mov %ax, %ds",
                                            "mov %cr0, %rax",
                                            "iretq",
                                            "lret",
                                            "xsetbv",
                                            "sgdt (%rax)",
                                            "smsw %ax",
                                            "vmcall",
                                            "senduipi %rax",
                                            "enclu",
                                            "ptwrite %rax",
                                            "invd"};
  const std::vector<std::string> refused = first_refused(assemblies);
  for (size_t i = 0; i < assemblies.size(); ++i) {
    EXPECT_NE(refused[i], "") << assemblies[i];
    EXPECT_NE(refused[i], "none") << assemblies[i];
    EXPECT_NE(refused[i], "no such function") << assemblies[i];
  }
}

TEST(MachineCode, TheRefusalNamesInstructionAndFunction) {
  const CompileResult r = compiled("extern \"C\" void honest() {}\nextern \"C\" void f() { asm volatile(\"syscall\"); }\n");
  EXPECT_EQ(r.code, "forbidden-instruction");
  EXPECT_NE(r.message.find("syscall in f,"), std::string::npos) << r.message;
  EXPECT_EQ(r.message.find('\n'), std::string::npos);
}

TEST(MachineCode, InstructionsThatComputePass) {
  const std::vector<std::string> assemblies{"pause",
                                            "lfence",
                                            "mfence",
                                            "vfmadd231ps %ymm0, %ymm1, %ymm2",
                                            "prefetcht0 (%rax)",
                                            "stmxcsr (%rax)",
                                            "ldmxcsr (%rax)",
                                            "fldcw (%rax)",
                                            "lock xaddl %eax, (%rdi)",
                                            "rep movsb",
                                            "mov %fs:0, %rax",
                                            "vpermb %zmm0, %zmm1, %zmm2",
                                            "tdpbf16ps %tmm0, %tmm1, %tmm2",
                                            "vdpbf16ps %zmm0, %zmm1, %zmm2",
                                            "vaddph %zmm0, %zmm1, %zmm2",
                                            "1: dec %eax; jnz 1b"};
  const std::vector<std::string> refused = first_refused(assemblies);
  for (size_t i = 0; i < assemblies.size(); ++i) EXPECT_EQ(refused[i], "") << assemblies[i];
}

// The processor is asked once, by what GCC adds for target_clones; no text can ask it.
TEST(MachineCode, OnlyGccAsksTheProcessor) {
  EXPECT_EQ(judged("extern \"C\" void f() { asm volatile(\"cpuid\"); }\n").code, "forbidden-instruction");
  const CompileResult clones =
      compiled("__attribute__((target_clones(\"avx2\", \"default\"))) int twice(int x) { return 2 * x; }\nextern \"C\" int f(int x) { return twice(x); }\n");
  EXPECT_TRUE(clones.ok) << clones.message;
  EXPECT_EQ(compiled("extern \"C\" int __cpu_indicator_init() { asm volatile(\"cpuid\"); return 0; }\n").code, "source-refused");
}

// 0x50f is 1295: a bound of a loop may be so in a text of ours, which means nothing by it.
TEST(MachineCode, BytesOfASystemCallInsideOfANumberCountInTextsOfOthers) {
  const std::string text = "extern \"C\" int f() { return 0x0000050f; }\n";
  EXPECT_EQ(compiled(text).code, "forbidden-instruction");
  EXPECT_EQ(judged(text, /*own=*/false).code, "forbidden-instruction");
  EXPECT_EQ(judged(text, /*own=*/true).code, "");
}

TEST(MachineCode, CodeThatIsNotLookedAtIsRefused) {
  const auto in_f = [](const std::string& assembly) { return "extern \"C\" void f() { asm volatile(\"" + assembly + "\"); }\n"; };
  const LibraryRefusal jump = judged(in_f("jmp 1f+2\\n1: movabs $0x0b0f0b0f0b0f0b0f, %rax"), true);
  EXPECT_NE(jump.reason.find("jumps into the middle"), std::string::npos) << jump.reason;
  const LibraryRefusal data = judged(in_f(".byte 0x06"), true);
  EXPECT_NE(data.reason.find("no instruction"), std::string::npos) << data.reason;
  const LibraryRefusal start = judged("asm(\".globl g\\n.type g, @function\\nmovabs $0x0b0f0b0f0b0f0b0f, %rax\\n.set g, .-4\\nret\");\n", true);
  EXPECT_NE(start.reason.find("begins inside"), std::string::npos) << start.reason;
}

TEST(LibraryLayout, OnlyKnownSectionsAreLoaded) {
  EXPECT_EQ(judged("[[gnu::section(\".mine\")]] int x = 1;\n").code, "odd-library");
  EXPECT_EQ(judged("[[gnu::section(\".mine\")]] void f() {}\n").code, "odd-library");
  EXPECT_EQ(judged("asm(\".section .both, \\\"awx\\\", @progbits\\nnop\\n.text\");\n").code, "odd-library");
  EXPECT_EQ(judged("asm(\".section .note.GNU-stack, \\\"x\\\", @progbits\\n.text\");\n").code, "odd-library");
  EXPECT_EQ(judged("thread_local int t; [[gnu::constructor]] static void f() { t = 1; }\nint x[4]{1}, *p = x; const char* s = \"text\";\n").code, "");
}

#endif

// Encodings as the architecture's manual has them; a machine that runs them is not needed.
TEST(MachineCode, InstructionsOfArmThatReachTheSystemAreRefused) {
  for (const uint32_t word : {0xd4000001u /* svc 0 */, 0xd4000002u /* hvc 0 */, 0xd4400000u /* hlt 0 */, 0xd53be040u /* mrs x0, cntvct_el0 */,
                              0xd53b9d00u /* mrs x0, pmccntr_el0 */, 0xd5380000u /* mrs x0, midr_el1 */, 0xd50b7e20u /* dc civac, x0 */, 0xd503205fu /* wfe */})
    EXPECT_NE(refused_arm_instruction(word), "") << std::hex << word;
  for (const uint32_t word : {0xd503201fu /* nop */, 0xd503233fu /* paciasp */, 0xd503245fu /* bti c */, 0xd5033bbfu /* dmb ish */, 0xd5033fdfu /* isb */,
                              0xd53bd040u /* mrs x0, tpidr_el0 */, 0xd53b4400u /* mrs x0, fpcr */, 0xd51b4400u /* msr fpcr, x0 */, 0xd503203fu /* yield */,
                              0x4e21d400u /* fadd v0.4s */, 0xd65f03c0u /* ret */, 0xd4207d00u /* brk 1000 */})
    EXPECT_EQ(refused_arm_instruction(word), "") << std::hex << word;
}

TEST(ElfFile, NamesAndLibrariesAreFound) {
  const auto elf = ElfFile::read(honest_library());
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
  const std::string whole = contents_of(honest_library());
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
    if (const auto elf = ElfFile::read(path)) elf->dynamic_symbols(), elf->needed(), elf->dynamic_tags();
    refused_library(path, false);
  }
}

}  // namespace
}  // namespace amdahl

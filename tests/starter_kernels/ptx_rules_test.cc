// What a card's kernel must keep is read from its PTX. No compiler is needed here: tests/exploits/cuda has texts for one.

#include "starter_kernels/toolchain/ptx_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "starter_kernels/toolchain/ptx_code.h"
#include "starter_kernels/toolchain/ptx_waits.h"

namespace amdahl {
namespace {

// A kernel with this body, and declarations before it.
std::string ptx(const std::string& body, const std::string& declarations = "") {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n" + declarations +
         "\n.extern .shared .align 16 .b8 dynamic[];\n.visible .entry amdahl_kernel_0(\n\t.param .align 8 .b8 o[32]\n)\n.maxntid 128, 1, 1\n{\n" +
         ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n" + body + "\nret;\n}\n";
}

std::string code_of(const std::string& body, const std::string& declarations = "") { return refused_ptx(ptx(body, declarations)).code; }

TEST(PtxRules, WhatKernelsNeedIsAllowed) {
  EXPECT_EQ(code_of("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %laneid;\nmov.u32 %r4, %cluster_ctarank;"), "");
  EXPECT_EQ(code_of("{.reg .u32 there; mapa.shared::cluster.u32 there, %r1, %r2; ld.shared::cluster.f32 %f1, [there];}"), "");
  EXPECT_EQ(code_of("ld.global.nc.L1::no_allocate.f32 %f1, [%rd1+4];"), "");
  EXPECT_EQ(code_of("// %clock64\n/* nanosleep; */ .pragma \"%clock nanosleep\";"), "");
}

TEST(PtxRules, ClocksAndPlacesOnTheCardAreRefused) {
  for (const char* name :
       {"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%smid", "%nsmid", "%warpid", "%gridid", "%pm0", "%envreg3", "%total_smem_size"})
    EXPECT_EQ(code_of(fmt::format("mov.u32 %r1, {};", name)), "forbidden-instruction") << name;
  for (const char* line : {"nanosleep.u32 %r1;", "@%p1 nanosleep.u32 20;", "L: nanosleep.u32 20;", "pmevent 1;", "brkpt;", "prefetch.global.L2 [%rd1];",
                           "cp.async.bulk.prefetch.L2.global [%rd1], 16;", "discard.global.L2 [%rd1], 128;", "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;",
                           "ld.global.L1::evict_last.f32 %f1, [%rd1];", "{createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;}"})
    EXPECT_EQ(code_of(line), "forbidden-instruction") << line;
}

// A name that is declared in one block is a special register in the next.
TEST(PtxRules, ADeclarationMakesNoClockARegister) {
  EXPECT_EQ(code_of("{.reg .u64 %clock64; mov.u64 %clock64, 3;}\nmov.u64 %rd1, %clock64;"), "forbidden-instruction");
  EXPECT_EQ(code_of("{.reg .u64 %mine; mov.u64 %mine, 3;}"), "forbidden-instruction");
}

TEST(PtxRules, NothingIsAskedOfTheDriver) {
  EXPECT_EQ(code_of("", ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);"), "forbidden-symbol");
  EXPECT_EQ(code_of("", ".extern .global .u32 counter;"), "forbidden-symbol");
}

TEST(PtxRules, VariablesAreRefusedWhereverTheyAreDeclared) {
  EXPECT_EQ(code_of("", ".global .align 4 .u32 counter = 3;"), "odd-library");
  EXPECT_EQ(code_of("", ".visible .global .align 4 .b8 counter[24] = {1, 2};"), "odd-library");
  EXPECT_EQ(code_of(".global .u32 counter;\natom.global.add.u32 %r1, [counter], 1;"), "odd-library");
}

// NVIDIA's sine reads a table that lies in memory that could be written.
TEST(PtxRules, TablesOfTheLibraryAreRead) {
  const std::string table = ".global .align 4 .b8 __cudart_i2opi_f$12[24] = {65, 144};";
  EXPECT_EQ(code_of("mov.u64 %rd1, __cudart_i2opi_f$12;\nadd.s64 %rd2, %rd1, 8;\nld.global.nc.u32 %r1, [%rd2];\nst.global.u32 [%rd3], %r1;", table), "");
  for (const char* write : {"st.global.u32 [__cudart_i2opi_f$12+4], %r1;", "mov.u64 %rd1, __cudart_i2opi_f$12;\nst.global.u32 [%rd1], %r1;",
                            "mov.u64 %rd1, __cudart_i2opi_f$12;\nadd.s64 %rd2, %rd1, %rd4;\nmov.u64 %rd3, %rd2;\natom.global.add.u32 %r2, [%rd3+4], %r1;",
                            "mov.u64 %rd1, __cudart_i2opi_f$12;\nst.global.u64 [%rd3], %rd1;"})
    EXPECT_EQ(code_of(write, table), "odd-library") << write;
}

TEST(PtxRules, WhatEndsTooEarlyIsRefused) {
  const std::string whole = ptx("mov.u32 %r1, %tid.x;");
  EXPECT_EQ(refused_ptx(whole).code, "");
  EXPECT_EQ(refused_ptx(whole.substr(0, whole.size() - 3)).code, "odd-library");
  EXPECT_EQ(refused_ptx("/* without end").code, "");  // and without code
}

// ---- kernels that begin early ----------------------------------------------------------------------------------------------

std::string touched(const std::string& body, bool begins_early = true) {
  cuda::Cubin cubin;
  cubin.begins_early = begins_early;
  cubin.launches.resize(1);
  cubin.packs = {{}, {64, {}}};  // in[1] is a packed copy
  return touches_before_it_waits(read_ptx(ptx(body)), cubin);
}

const std::string kRead = "ld.param.u64 %rd1, [o];\nld.global.f32 %f1, [%rd1];\n";
const std::string kReadPacked = "mov.b64 %rd7, o;\nmov.u64 %rd6, %rd7;\nld.param.u64 %rd5, [%rd6+8];\nadd.s64 %rd4, %rd5, 16;\nld.global.f32 %f1, [%rd4];\n";
const std::string kWrite = "ld.param.u64 %rd3, [o+16];\nst.global.f32 [%rd3], %f1;\n";
const std::string kWait = "griddepcontrol.wait;\n";

TEST(PtxWaits, WhoWaitsFirstMayDoAnything) {
  EXPECT_EQ(touched(kWait + kRead + kWrite), "");
  EXPECT_EQ(touched("griddepcontrol.launch_dependents;\n" + kWait + kRead + kWrite), "");
  EXPECT_EQ(touched(kRead + kWrite, /*begins_early=*/false), "");
}

TEST(PtxWaits, OperandsAreTouchedAfterwards) {
  EXPECT_NE(touched(kRead + kWait + kWrite), "");
  EXPECT_NE(touched(kWrite + kWait), "");
  EXPECT_NE(touched(kRead + kWrite), "");
  EXPECT_NE(touched("ld.param.u64 %rd1, [o];\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];\n" + kWait), "");
  EXPECT_NE(
      touched("mov.b64 %rd1, map;\ncp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];\n" + kWait),
      "")
      << "boxes of an operand";
  EXPECT_NE(touched("ld.param.u64 %rd1, [o+8];\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;\n" + kWait), "") << "a copy that writes";
  EXPECT_EQ(touched("mov.b64 %rd7, o;\nadd.s64 %rd6, %rd7, 16;\nld.param.u64 %rd5, [%rd6+-8];\nld.global.f32 %f1, [%rd5];\n" + kWait), "")
      << "the packed operand";
  EXPECT_NE(touched("mov.b64 %rd7, o;\nadd.s64 %rd6, %rd7, 8;\nld.param.u64 %rd5, [%rd6+-8];\nld.global.f32 %f1, [%rd5];\n" + kWait), "") << "the one before";
  EXPECT_NE(touched("mov.b64 %rd7, o;\nadd.s64 %rd6, %rd7, 8;\nadd.s64 %rd6, %rd6, %rd4;\nld.param.u64 %rd5, [%rd6];\nld.global.f32 %f1, [%rd5];\n" + kWait),
            "")
      << "some operand behind it";
  EXPECT_NE(touched("ld.param.u64 %rd1, [o];\nld.f32 %f1, [%rd1];\n" + kWait), "") << "by a generic address";
  EXPECT_NE(touched("mov.b64 %rd7, o;\nadd.s64 %rd7, %rd7, %rd5;\nld.param.u64 %rd1, [%rd7];\nld.global.f32 %f1, [%rd1];\n" + kWait), "") << "some operand";
  EXPECT_NE(touched("ld.param.u64 %rd1, [o+8];\nld.global.u64 %rd2, [%rd1];\nld.global.f32 %f1, [%rd2];\n" + kWait), "") << "an address from memory";
}

TEST(PtxWaits, PackedCopiesAndSharedMemoryMayBeReadBefore) {
  EXPECT_EQ(touched(kReadPacked + kWait + kWrite), "");
  EXPECT_EQ(touched("st.shared.f32 [dynamic+4], %f1;\nld.shared.f32 %f2, [%r1];\n" + kWait), "");
  EXPECT_EQ(touched("ld.param.u64 %rd1, [o+8];\nmov.u64 %rd4, dynamic;\ncvt.u32.u64 %r1, %rd4;\n"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r1];\n" +
                    kWait),
            "");
}

TEST(PtxWaits, CopiesByThreadsAreReads) {
  const std::string ends = "cp.async.commit_group;\ncp.async.wait_group 0;\n";
  EXPECT_EQ(touched("ld.param.u64 %rd1, [o+8];\ncp.async.cg.shared.global [%r1], [%rd1], 16, %r2;\n" + ends + kWait + kWrite), "");
  EXPECT_NE(touched("ld.param.u64 %rd1, [o];\ncp.async.cg.shared.global [%r1], [%rd1], 16, %r2;\n" + ends + kWait + kWrite), "") << "of an operand";
}

TEST(PtxWaits, EveryPathWaits) {
  EXPECT_NE(touched("@%p1 bra L1;\n" + kWait + "L1:\n" + kRead), "");
  EXPECT_NE(touched("@%p1 griddepcontrol.wait;\n" + kRead), "");
  EXPECT_NE(touched("@%p1 ret;\n" + kWait + kWrite), "") << "ends unwaited";
  EXPECT_NE(touched("bra.uni L1;\nL2:\n" + kWait + "bra.uni L3;\nL1:\n" + kRead + "bra.uni L2;\nL3:"), "") << "order of the text is not that of the run";
  EXPECT_EQ(touched("@%p1 bra L1;\n" + kReadPacked + "L1:\n" + kWait + kRead + kWrite), "");
  EXPECT_EQ(touched("L1:\n" + kReadPacked + "@%p1 bra L1;\n" + kWait + "L2:\n" + kRead + "@%p1 bra L2;\n" + kWrite), "");
  EXPECT_NE(touched(""), "") << "touches nothing, and breaks the chain of those who wait";
}

}  // namespace
}  // namespace amdahl

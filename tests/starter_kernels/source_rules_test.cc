#include "starter_kernels/toolchain/source_rules.h"

#include <gtest/gtest.h>

#include "starter_kernels/kinds/plain.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

void expect_refused(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::string why = refused_source("int before;\n" + text);
    EXPECT_NE(why, "") << text;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
}

TEST(SourceRules, IncludesAndPragmasOfHostileTextsAreRefused) {
  expect_refused({
      "#include \"/etc/passwd\"\n",
      "# include \"kernel.h\"\n",
      "#include </etc/passwd>\n",
      "#include <../../etc/passwd>\n",
      "#include <fstream>\n",
      "#include <unistd.h>\n",
      "#include_next <math.h>\n",
      "#import <math.h>\n",
      "#define FILE_NAME \"/etc/passwd\"\n#include FILE_NAME\n",
      "#include __FILE__\n",
      "#embed \"/etc/passwd\"\n",
      "const char x[] = {\n#embed \"/etc/passwd\"\n};\n",
      "#line 1 \"/etc/passwd\"\n",
      "#pragma GCC dependency \"/etc/passwd\"\n",
      "#pragma GCC plugin \"x\"\n",
      "#pragma GCC poison x\n",
      "#pragma include_alias(\"a\", \"b\")\n",
      "#pragma push_macro(\"x\")\n",
      "_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")\n",
      "#define P(x) _Pragma(#x)\n",
      "#define D \"GCC dependency\"\n_Pragma(D)\n",
      "_Pragma(\"GCC unroll 4\" \"GCC dependency\")\n",
      "_Pragma(L\"GCC dependency\")\n",
      "_Pragma",
      "#if __has_include(\"/etc/passwd\")\n#endif\n",
      "#if defined(X) && __has_embed(\"/etc/passwd\")\n#endif\n",
      "%:include \"/etc/passwd\"\n",
      "\?\?=include \"/etc/passwd\"\n",
  });
}

TEST(SourceRules, WhatCommentsSplicedLinesAndStringsHideIsRefused) {
  expect_refused({
      "/* */ #include \"/etc/passwd\"\n",
      "#/* */include \"/etc/passwd\"\n",
      "#/*\n*/include \"/etc/passwd\"\n",
      "#inc\\\nlude \"/etc/passwd\"\n",
      "#inc\\ \t\nlude \"/etc/passwd\"\n",
      "#inc\?\?/\nlude \"/etc/passwd\"\n",
      "const char* a = \"/*\";\n#include \"/etc/passwd\"\nconst char* b = \"*/\";\n",
      "const char* a = R\"x(\")x\";\n#include \"/etc/passwd\"\n",
      "const char* a = R\"(/*)\";\n#include \"/etc/passwd\"\n",
      "int a = 1'000'000; int b = '\"';\n#include \"/etc/passwd\"\n",
      "// \\\nstill a comment\n#include \"/etc/passwd\"\n",
      "#if 0\n'\n#endif\n#include \"/etc/passwd\"\n",
  });
}

TEST(SourceRules, HostileAssemblyIsRefused) {
  expect_refused({
      "asm(\".incbin \\\"/etc/passwd\\\"\");\n",
      "asm(\".inc\" \"bin \\\"/etc/passwd\\\"\");\n",
      "asm(\".\\x69ncbin \\\"/etc/passwd\\\"\");\n",
      "asm(\".\\151ncbin \\\"/etc/passwd\\\"\");\n",
      "asm(R\"(.incbin \"/etc/passwd\")\");\n",
      "asm(\".include \\\"/etc/passwd\\\"\");\n",
      "__asm__ volatile(\"nop; .macro m\\n.endm\");\n",
      "#define A \".inc\"\n#define B \"bin\"\nasm(A B \" \\\"/etc/passwd\\\"\");\n",
      "#define S(x) #x\nasm(S(.incbin \"/etc/passwd\"));\n",
      "int f() asm(\"f\\n.incbin \\\"/etc/passwd\\\"\");\n",
      "int x __attribute__((section(\"x\\n.in\" \"cbin \\\"/etc/passwd\\\"\")));\n",
      "asm(\"nop\\n.section x\");\n",
      "asm(\".irp x,bin\\n.endr\");\n",
      "asm(\".byte 0x0f, 0x05\");\n",
      "asm(\"x = 5\");\n",
      "asm(\"malloc: ret\");\n",
      "asm(\"cpuid\");\n",
      "asm(\"data16 CPUID\");\n",
      "asm volatile(\"nop\" TEMPLATE : : );\n",
      "asm volatile(TEMPLATE);\n",
      "int g() asm(\"__cpu_indicator_init\");\n",
      "# 12 \"other.cpp\"\n",
  });
}

TEST(SourceRules, HostileAttributesAreRefused) {
  expect_refused({
      "[[gnu::section(\".text\")]] int x;\n",
      "[[__gnu__::__section__(\".text\")]] int x;\n",
      "<:<: gnu::section(\".text\") :>:> int x;\n",
      "[ [gnu::alias(\"g\")]] int f();\n",
      "[[using gnu: section(\".text\")]] int x;\n",
      "[[likely, gnu::ifunc(\"g\")]] int f();\n",
      "[[omp::directive(parallel)]] {}\n",
      "[[gnu::aligned(8) gnu::cold]] int x;\n",
      "__attribute__((aligned(8), __constructor__)) void f();\n",
      "__attribute((visibility(\"default\"))) int x;\n",
      "__attribute__((aligned(8)) int x;\n",
      "__attribute__ ALIGNED int x;\n",
      "__attribute__((NAME)) int x;\n",
      "__attribute__((noinline(\"\\n.incbin\"))) int f();\n",
      "__attribute__((target(\"avx2\\n.incbin\"))) int f();\n",
      "#define HIDDEN __attribute__((weakref(\"malloc\")))\n",
  });
}

// What is another tomorrow, elsewhere, or in another program.
TEST(SourceRules, WhatIsAnotherElsewhereIsRefused) {
  expect_refused({
      "const char* day = __DATE__;\n",
      "#define TODAY __TIME__\n",
      "#if sizeof(__TIMESTAMP__) > 1\n#endif\n",
      "const char* f = __FILE__;\n",
      "int n = sizeof(__func__);\n",
      "const char* n = typeid(int).name();\n",
      "void* p = __builtin_return_address(0);\n",
      "void* p = __builtin_frame_address(0);\n",
      "int n = __builtin_LINE();\n",
      "long t = __builtin_ia32_rdtsc();\n",
      "#pragma GCC optimize(\"O3\\\" x\")\n",
      "#pragma GCC target(\"/tmp/x\")\n",
      std::string("int a;\0int b;", 13),
  });
}

TEST(SourceRules, TheRefusalNamesTheLine) {
  EXPECT_EQ(refused_source("int a;\n/* two\nlines */\n#include \"x.h\"\n").rfind("line 4: ", 0), 0u);
  EXPECT_EQ(refused_source("int a; \\\n int b;\n#embed \"x\"\n").rfind("line 3: #embed", 0), 0u);
}

TEST(SourceRules, HonestTextsPass) {
  for (const std::string& text : std::vector<std::string>{
           "#include <stddef.h>\n#  include <immintrin.h> // AVX\n#include /* for memcpy */ <string.h>\n",
           "#pragma GCC unroll 4\n#pragma omp parallel for\n#pragma GCC target(\"avx2\")\n#pragma clang loop unroll(full)\n",
           "// it's \"quoted, and .incbin is a word\n/* #include \"x\" */ int a;\n",
           "#define U _Pragma(\"GCC unroll 64\")\n#define V _Pragma ( \"clang loop unroll(full)\" )\n",
           "#define JOIN(a, b) a##b\n#define TEXT(x) #x\n#error it's wrong\n",
           "int big = 1'000'000; char quote = '\\''; char hash = '#'; const char* s = \"# not a directive\";\n",
           "asm volatile(\"vfmadd231ps %0, %1, %2\\n\\t.p2align 4\\n\" : : : \"memory\");\n",
           "float f = .5f; struct { float x; } p; float g = p.x;\n",
           "#\nint null_directive;\n",
           "[[gnu::noinline, gnu::aligned(64)]] int f(); [[maybe_unused]] int x[2][2]; [[likely]] ;\n",
           "#define INLINE inline __attribute__((__always_inline__, vector_size(4 * N)))\n",
           "__attribute__((target_clones(\"avx2\", \"arch=x86-64-v4\", \"default\"))) int f();\n[[deprecated(\"don't\")]] int g();\n",
           "int a[3]; int b = a[a[0]], c = a[([] { return 0; })()];\n",
           "register long r asm(\"r10\"); asm volatile(\"1: dec %0\\n\\tjnz 1b; {evex} vaddps %1, %2, %3\" : \"+r\"(n) : : \"memory\");\n",
           "std::vector<::std::string> digraph;\n",
           "extern \"C\" void amdahl_run(const void* const* in, void* const* out, void*) {}\n",
       })
    EXPECT_EQ(refused_source(text), "") << text;
}

// What a macro hides from the first reading stands there in the second: by the compiler itself.
TEST(SourceRules, MacrosHideNothing) {
  const CpuToolchain toolchain(default_cache_dir());
  const std::string paste = "#define PASTE(a, b) a##b\n#define JOIN(a, b) PASTE(a, b)\n";
  for (const std::string& hidden : std::vector<std::string>{
           "const char* day = JOIN(__DA, TE__);\n",
           "JOIN(a, sm)(\".byte 0x90\");\n",
           "JOIN(__attri, bute__)((section(\".mine\"))) int x = 1;\n",
           "#define O [\n#define C ]\nO O gnu::section(\".mine\") C C int x = 1;\n",
           "int n() { return sizeof(JOIN(__fun, c__)); }\n",
           "#define noinline section(\".mine\")\n__attribute__((noinline)) int x = 1;\n",
           "#define nop \".byte 0x90\"\n#define S(x) X(x)\n#define X(x) JOIN(as, m)(x)\nS(nop);\n",
       }) {
    EXPECT_EQ(refused_source(paste + hidden), "") << "seen at once: " << hidden;
    const CompileResult r = toolchain.compile_source(paste + hidden, Variant{});
    EXPECT_EQ(r.code, "source-refused") << hidden << r.message;
    EXPECT_EQ(r.message.rfind("line ", 0), 0u) << r.message;
  }
  const CompileResult honest = toolchain.compile_source(
      paste + "#include <cassert>\n#include <cmath>\nint JOIN(tw, ice)(int x) { assert(x > 0 && \"it's\"); return 2 * x; }\nfloat f() { return INFINITY; }\n",
      Variant{});
  EXPECT_TRUE(honest.ok) << honest.message;
}

TEST(SourceRules, TheSecondReadingLooksAtTheKernelAlone) {
  const std::string header = "# 1 \"/usr/include/x.h\" 1\nextern int f() asm(\"f\\n.incbin\");\n";
  EXPECT_EQ(refused_preprocessed("# 0 \"kernel.cpp\"\nint a;\n" + header + "# 2 \"kernel.cpp\" 2\nint b;\n", "kernel.cpp"), "");
  EXPECT_EQ(refused_preprocessed(header + "# 7 \"kernel.cpp\" 2\nint b;\nint c = __DATE__;\n", "kernel.cpp").rfind("line 8: __DATE__", 0), 0u);
  const std::string assertion = "# 1 \"kernel.cpp\"\n__assert_fail(\"x\", \"kernel.cpp\", 1, __extension__ __PRETTY_FUNCTION__);\n";
  EXPECT_EQ(refused_preprocessed(assertion, "kernel.cpp"), "");
  EXPECT_NE(refused_preprocessed(assertion + "const char* n = __PRETTY_FUNCTION__;\n", "kernel.cpp"), "");
}

// They come with a variant, from wherever that came.
TEST(SourceRules, FlagsAreThoseThatSayHowToOptimize) {
  EXPECT_EQ(refused_flags({"-O3", "-funroll-loops", "-mprefer-vector-width=512"}), "");
  for (const std::string flag : {"-fplugin=x.so", "-include/etc/passwd", "-B/tmp", "-wrapper", "-ffast-math", "-Wl,-z,execstack", "-specs=x", "@file", "-DX",
                                 "-x", "/etc/passwd", "-march=x86-64", "-fprofile-use=/tmp/x", "-fdump-tree-all", "-o/tmp/x"}) {
    Variant variant;
    variant.flags = {flag};
    EXPECT_EQ(CpuToolchain(default_cache_dir()).compile_source("int x;\n", variant).code, "source-refused") << flag;
  }
}

// Problems come with forms of others, and their names go into our own texts.
TEST(SourceRules, AProblemAddsNoText) {
  Variant variant;
  variant.problem.kind = "plain";
  PlainParams{"Trilu\nint evil;", "trilu", Json::object()}.write(variant.problem);
  const CompileResult r = CpuToolchain(default_cache_dir()).compile(variant);
  EXPECT_EQ(r.code, "compile-error");
  EXPECT_NE(r.message.find("no word"), std::string::npos) << r.message;
  PlainParams{"Trilu", "trilu", Json{{"N = 1; int evil", 3}}}.write(variant.problem);
  EXPECT_NE(CpuToolchain(default_cache_dir()).compile(variant).message.find("no word"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

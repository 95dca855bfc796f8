#include "starter_kernels/source_rules.h"

#include <gtest/gtest.h>


namespace amdahl {
namespace {

TEST(SourceRules, HostileTextsAreRefused) {
  const std::vector<std::string> hostile{
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
      // Hidden by comments, spliced lines and what looks like comments and strings.
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
      // Assembly.
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
      std::string("int a;\0int b;", 13),
  };
  for (const std::string& text : hostile) {
    const std::string why = refused_source("int before;\n" + text);
    EXPECT_NE(why, "") << text;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
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
           "extern \"C\" void amdahl_run(const void* const* in, void* const* out, void*) {}\n",
       })
    EXPECT_EQ(refused_source(text), "") << text;
}

}  // namespace
}  // namespace amdahl

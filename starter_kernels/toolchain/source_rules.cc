#include "starter_kernels/toolchain/source_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "starter_kernels/toolchain/assembly_rules.h"
#include "starter_kernels/toolchain/tokens.h"

namespace amdahl {
namespace {

// No input and output, no processes, no threads but OpenMP's.
const std::set<std::string_view> kHeaders{
    "algorithm",   "array",       "bit",         "cassert",     "cfenv",       "cfloat",      "cinttypes",   "climits",     "cmath",
    "complex",     "concepts",    "cstdarg",     "cstddef",     "cstdint",     "cstdlib",     "cstring",     "functional",  "initializer_list",
    "iterator",    "limits",      "memory",      "new",         "numbers",     "numeric",     "optional",    "ranges",      "span",
    "string",      "string_view", "tuple",       "type_traits", "utility",     "vector",      "version",     "atomic",      "assert.h",
    "fenv.h",      "float.h",     "inttypes.h",  "limits.h",    "math.h",      "stdalign.h",  "stdarg.h",    "stdbool.h",   "stddef.h",
    "stdint.h",    "stdlib.h",    "string.h",    "omp.h",       "immintrin.h", "x86intrin.h", "xmmintrin.h", "emmintrin.h", "pmmintrin.h",
    "tmmintrin.h", "smmintrin.h", "nmmintrin.h", "arm_neon.h",  "arm_sve.h",   "arm_fp16.h",  "arm_bf16.h",  "arm_acle.h"};
const std::set<std::string_view> kDirectives{"define",   "undef", "if",    "ifdef", "ifndef",  "elif",    "elifdef",
                                             "elifndef", "else",  "endif", "error", "warning", "include", "pragma"};
// Second words of #pragma GCC. Not here: dependency (reads a file), plugin and their like.
const std::set<std::string_view> kGccPragmas{"unroll", "ivdep", "target", "optimize", "push_options", "pop_options", "reset_options", "diagnostic"};
const std::set<std::string_view> kClangPragmas{"loop", "fp", "diagnostic"};

// What speaks of how a function is computed, or to the reader. Not here: section, alias, ifunc, symver, weak, visibility (where a name lies, and whose
// it is), constructor (the language has its own), naked, cleanup, copies of other declarations.
// clang-format off
const std::set<std::string_view> kAttributes{
    "aligned", "alloc_align", "alloc_size", "always_inline", "artificial", "assume", "assume_aligned", "cold", "const", "deprecated",
    "ext_vector_type", "fallthrough", "flatten", "hot", "leaf", "likely", "malloc", "may_alias", "maybe_unused", "noclone", "nodiscard",
    "noinline", "noipa", "nonnull", "noreturn", "nothrow", "no_unique_address", "optimize", "packed", "pure", "returns_nonnull", "simd",
    "target", "target_clones", "unlikely", "unused", "vector_size", "warn_unused_result"};
// clang-format on
const std::set<std::string_view> kWithStrings{"deprecated", "nodiscard", "optimize", "target", "target_clones", "simd"};
const std::set<std::string_view> kAsm{"asm", "__asm", "__asm__"};
const std::set<std::string_view> kAsmQualifiers{"volatile", "__volatile__", "__volatile", "inline", "__inline__", "goto"};

constexpr const char* kFiles = "asks for files";
constexpr const char* kDate = "makes today's build another than tomorrow's";
constexpr const char* kPlace = "says where and under which name it was built";
constexpr const char* kStack = "reaches for who called it";
constexpr const char* kClock = "is a clock, a counter or the processor's name";
// clang-format off
const std::map<std::string_view, const char*> kWords{
    {"__has_include", kFiles}, {"__has_include_next", kFiles}, {"__has_embed", kFiles}, {"incbin", kFiles}, {"__pragma", kFiles},
    {"__declspec", "is an attribute in another spelling"},
    {"__DATE__", kDate}, {"__TIME__", kDate}, {"__TIMESTAMP__", kDate}, {"__amdahl_date__", kDate},
    {"__FILE__", kPlace}, {"__FILE_NAME__", kPlace}, {"__BASE_FILE__", kPlace}, {"__INCLUDE_LEVEL__", kPlace}, {"__builtin_FILE", kPlace},
    {"__builtin_LINE", kPlace}, {"__builtin_FUNCTION", kPlace}, {"__builtin_source_location", kPlace}, {"__func__", kPlace},
    {"__FUNCTION__", kPlace}, {"__PRETTY_FUNCTION__", kPlace}, {"typeid", kPlace},
    {"__builtin_return_address", kStack}, {"__builtin_extract_return_addr", kStack}, {"__builtin_frob_return_addr", kStack},
    {"__builtin_frame_address", kStack}, {"__builtin_dwarf_cfa", kStack}, {"__builtin_thread_pointer", kStack},
    {"__builtin_set_thread_pointer", kStack}, {"__builtin_unwind_init", kStack}, {"__builtin_eh_return", kStack},
    {"__builtin_setjmp", kStack}, {"__builtin_longjmp", kStack}, {"__builtin_apply", kStack}, {"__builtin_apply_args", kStack},
    {"__builtin_return", kStack},
    {"__builtin_readcyclecounter", kClock}, {"__builtin_ia32_rdtsc", kClock}, {"__builtin_ia32_rdtscp", kClock}, {"__rdtsc", kClock},
    {"__rdtscp", kClock}, {"_rdtsc", kClock}, {"__builtin_ia32_rdpmc", kClock}, {"__rdpmc", kClock}, {"_rdpmc", kClock}, {"_rdpid_u32", kClock},
    {"_xgetbv", kClock}, {"__builtin_ia32_xgetbv", kClock}, {"__builtin_ia32_rdpid", kClock}};
// clang-format on

constexpr const char* kPragmaReason = "a kernel's pragmas may be omp and those that steer vectorization, written out";

// "__aligned__" is "aligned".
std::string_view without_underscores(std::string_view word) {
  if (word.size() > 4 && word.starts_with("__") && word.ends_with("__")) return word.substr(2, word.size() - 4);
  return word;
}

// "avx512f,arch=x86-64-v3", "default", "unroll-loops".
bool is_option(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || std::string_view(",.=+_- ").find(static_cast<char>(c)) != std::string_view::npos; });
}

// One reading of a text.
class Reader {
 public:
  explicit Reader(const std::vector<Token>& tokens) : t_(tokens) {}

  std::string refusal() {
    while (inside() && refusal_.empty()) step();
    return refusal_;
  }

 private:
  bool inside(size_t ahead = 0) const { return i_ + ahead < t_.size(); }
  bool is(std::string_view what, size_t ahead = 0) const { return inside(ahead) && t_[i_ + ahead].is(what); }
  Token::Kind kind(size_t ahead = 0) const { return inside(ahead) ? t_[i_ + ahead].kind : Token::Kind::kMark; }
  void refuse(const Token& at, const std::string& what) {
    if (refusal_.empty()) refusal_ = fmt::format("line {}: {}", at.line, what);
  }

  void step() {
    const Token& t = t_[i_];
    if (t.is("#") && t.starts_line) return directive();
    if (t.kind == Token::Kind::kMark && t.text.empty()) return refuse(t, "a raw string that does not begin and end as one");
    if (t.kind == Token::Kind::kWord) return word();
    if (t.is("[") && is("[", 1)) return attributes(2, "]");
    ++i_;
  }

  void word() {
    const Token& t = t_[i_];
    const auto refused = kWords.find(t.text);
    if (refused != kWords.end() && !of_failed_assertion()) return refuse(t, fmt::format("{} is not allowed in a kernel: it {}", t.text, refused->second));
    if (t.text.starts_with("__cpu_")) return refuse(t, fmt::format("{} is a name of the compiler's own", t.text));
    if (t.text == "_Pragma") return pragma_operator();
    if (kAsm.count(t.text)) return assembly();
    if (t.text == "__attribute__" || t.text == "__attribute") {
      if (!is("(", 1) || !is("(", 2)) return refuse(t, kAttributeReason);
      return attributes(3, ")");
    }
    ++i_;
  }

  // assert() names its function to __assert_fail(text, file, line, function), which ends the process.
  bool of_failed_assertion() const {
    using enum Token::Kind;
    if (i_ < 9 || t_[i_].text != "__PRETTY_FUNCTION__") return false;
    const Token* t = &t_[i_ - 9];
    return t[0].is("__assert_fail") && t[1].is("(") && t[2].kind == kString && t[3].is(",") && t[4].kind == kString && t[5].is(",") && t[6].kind == kNumber &&
           t[7].is(",") && t[8].is("__extension__") && is(")", 1);
  }

  // ---- attributes ------------------------------------------------------------------------------------------------------

  // A list of them, the first `from` tokens from here, up to two of `close`.
  void attributes(size_t from, std::string_view close) {
    i_ += from;
    while (refusal_.empty() && !is(close)) {
      if (!inside()) return refuse(t_.back(), kAttributeReason);
      if (is(",")) ++i_;
      else attribute();
      if (refusal_.empty() && !is(",") && !is(close) && !t_[i_ - 1].is(",")) return refuse(t_[i_ - 1], kAttributeReason);
    }
    if (!is(close, 1)) return refuse(t_[std::min(i_, t_.size() - 1)], kAttributeReason);
    i_ += 2;
  }

  void attribute() {
    if (kind() != Token::Kind::kWord) return refuse(t_[i_], kAttributeReason);
    if (is("::", 1)) {
      const std::string_view scope = without_underscores(t_[i_].text);
      if (scope != "gnu" && scope != "clang") return refuse(t_[i_], fmt::format("attributes of {} are not allowed in a kernel", scope));
      i_ += 2;
      if (kind() != Token::Kind::kWord || !inside()) return refuse(t_[i_ - 1], kAttributeReason);
    }
    const Token& named = t_[i_++];
    const std::string_view name = without_underscores(named.text);
    if (!kAttributes.count(name))
      return refuse(named, fmt::format("the attribute {} is not allowed in a kernel: it may have those that say how a function is computed", name));
    if (is("(")) arguments(name);
  }

  void arguments(std::string_view attribute) {
    int depth = 0;
    do {
      const Token& t = t_[i_++];
      depth += t.is("(") - t.is(")");
      if (t.kind == Token::Kind::kString && (!kWithStrings.count(attribute) || !(is_option(t.text) || attribute == "deprecated" || attribute == "nodiscard")))
        return refuse(t, fmt::format("the attribute {} holds a text that it has no use for", attribute));
    } while (inside() && depth > 0);
  }

  // ---- assembly --------------------------------------------------------------------------------------------------------

  void assembly() {
    const Token& start = t_[i_++];
    while (inside() && kAsmQualifiers.count(t_[i_].text)) ++i_;
    if (!is("(") || kind(1) != Token::Kind::kString) return refuse(start, kAssemblyReason);
    std::string text;
    for (++i_; kind() == Token::Kind::kString && inside(); ++i_) text += t_[i_].text;
    if (!is(")") && !is(":") && !is("::")) return refuse(start, kAssemblyReason);
    if (const std::string why = refused_assembly(text); !why.empty()) refuse(start, fmt::format("{}: {}", kAssemblyReason, why));
  }

  // ---- directives ------------------------------------------------------------------------------------------------------

  bool on_row(size_t row, size_t ahead = 0) const { return inside(ahead) && t_[i_ + ahead].row == row; }

  // The rest of a #define, an #if or a pragma is read as any other text: attributes and words in it count.
  void directive() {
    const Token& start = t_[i_++];
    if (!start.plain) return refuse(start, "%: is not allowed in a kernel: write #");
    if (!on_row(start.row)) return;  // a null directive
    const std::string name = t_[i_].text;
    if (kind() != Token::Kind::kWord || !kDirectives.count(name)) return refuse(start, fmt::format("#{} is not allowed in a kernel", name.substr(0, 40)));
    ++i_;
    if (name == "include") include(start);
    if (name == "pragma") pragma(start);
    if (name == "error" || name == "warning")  // prose, with apostrophes
      while (on_row(start.row)) ++i_;
  }

  void include(const Token& start) {
    std::string header;
    size_t ahead = 1;
    bool in_one_piece = on_row(start.row) && is("<");
    for (; in_one_piece && on_row(start.row, ahead) && !is(">", ahead); ++ahead) {
      in_one_piece = t_[i_ + ahead].begin == t_[i_ + ahead - 1].end;
      header += t_[i_ + ahead].text;
    }
    if (!in_one_piece || !on_row(start.row, ahead) || t_[i_ + ahead].begin != t_[i_ + ahead - 1].end)
      return refuse(start, "#include is for <headers> of the standard library and of intrinsics only: put other text into the kernel itself");
    if (!kHeaders.count(header))
      return refuse(start, fmt::format("#include <{}> is not allowed in a kernel: it may use the standard library's arithmetic and "
                                       "containers, omp.h, and intrinsics",
                                       header.substr(0, 60)));
    i_ += ahead + 1;
  }

  void pragma(const Token& start) {
    std::vector<Token> rest;
    for (size_t ahead = 0; on_row(start.row, ahead); ++ahead) rest.push_back(t_[i_ + ahead]);
    check_pragma(start, rest);
  }
  // _Pragma("…") of one string that stands there as it is: macros could bring anything.
  void pragma_operator() {
    const Token& start = t_[i_];
    if (!is("(", 1) || kind(2) != Token::Kind::kString || !inside(2) || !t_[i_ + 2].plain || !is(")", 3)) return refuse(start, kPragmaReason);
    check_pragma(start, tokens_of(t_[i_ + 2].text));
    i_ += 4;
  }
  void check_pragma(const Token& start, const std::vector<Token>& words) {
    const std::string first = words.empty() ? "" : words[0].text, second = words.size() < 2 ? "" : words[1].text;
    const bool known = first == "omp" || first == "STDC" || first == "once" || first == "unroll" || (first == "GCC" && kGccPragmas.count(second)) ||
                       (first == "clang" && kClangPragmas.count(second));
    const bool clean =
        second == "diagnostic" || std::all_of(words.begin(), words.end(), [](const Token& t) { return t.kind != Token::Kind::kString || is_option(t.text); });
    if (!known || !clean) refuse(start, fmt::format("pragma {} {}: {}", first.substr(0, 40), second.substr(0, 40), kPragmaReason));
  }

  static constexpr const char* kAttributeReason = "an attribute of a kernel stands there in full: __attribute__((names)) or [[names]]";
  static constexpr const char* kAssemblyReason = "assembly in a kernel may hold instructions and alignment, written out, no directives, names or data";

  const std::vector<Token>& t_;
  size_t i_ = 0;
  std::string refusal_;
};

// What came of the kernel's own file. `# 7 "kernel.cpp" 2`: what follows is line 7 of it.
std::vector<Token> own_tokens(const std::string& text, const std::string& name) {
  std::vector<Token> own;
  const std::vector<Token> all = tokens_of(text);
  bool mine = false;
  int shift = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool marker =
        all[i].is("#") && all[i].starts_line && i + 2 < all.size() && all[i + 1].kind == Token::Kind::kNumber && all[i + 2].kind == Token::Kind::kString;
    if (!marker) {
      if (!mine) continue;
      own.push_back(all[i]);
      own.back().line += shift;
      continue;
    }
    mine = all[i + 2].text == name;
    shift = std::atoi(all[i + 1].text.c_str()) - all[i].line - 1;
    const size_t row = all[i].row;
    while (i + 1 < all.size() && all[i + 1].row == row) ++i;
  }
  return own;
}

}  // namespace

std::string refused_source(const std::string& text) {
  if (text.find('\0') != std::string::npos) return "line 1: a kernel is text, without zero bytes";
  const std::vector<Token> tokens = tokens_of(text);
  return Reader(tokens).refusal();
}

std::string refused_preprocessed(const std::string& text, const std::string& name) {
  const std::vector<Token> tokens = own_tokens(text, name);
  return Reader(tokens).refusal();
}

std::vector<std::string> preprocess_arguments() {
  return {"-E", "-D__DATE__=__amdahl_date__", "-D__TIME__=__amdahl_date__", "-D__TIMESTAMP__=__amdahl_date__"};
}

std::string refused_flags(const std::vector<std::string>& flags) {
  // clang-format off
  static const std::set<std::string_view> kFlags{
      "-O1", "-O2", "-O3", "-funroll-loops", "-fno-unroll-loops", "-fpeel-loops", "-fno-peel-loops", "-ftree-vectorize", "-fno-tree-vectorize",
      "-fno-tree-slp-vectorize", "-fomit-frame-pointer", "-fschedule-insns", "-fno-schedule-insns", "-fno-schedule-insns2", "-frename-registers",
      "-fprefetch-loop-arrays", "-fno-prefetch-loop-arrays", "-ftree-loop-distribution", "-fno-tree-loop-distribution", "-fvariable-expansion-in-unroller",
      "-fsplit-loops", "-funswitch-loops", "-fno-ivopts", "-fno-jump-tables", "-mprefer-vector-width=128", "-mprefer-vector-width=256", "-mprefer-vector-width=512"};
  // clang-format on
  for (const std::string& flag : flags)
    if (!kFlags.count(flag))
      return fmt::format("the flag {} is not one that kernels are compiled with (starter_kernels/toolchain/source_rules.cc lists them)", flag.substr(0, 60));
  return "";
}

}  // namespace amdahl

#include "bench/trust/source_edits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <set>
#include <vector>

#include "base/error.h"

namespace amdahl::trust {
namespace {

using Names = std::set<std::string>;
using Texts = std::vector<std::string>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name(const std::string& token) { return is_word(token[0]) && !std::isdigit(static_cast<unsigned char>(token[0])); }
bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\n") == std::string::npos; }

// The lines with their ends.
Texts lines_of(const std::string& text) {
  Texts lines;
  for (size_t at = 0; at < text.size();) {
    const size_t newline = text.find('\n', at);
    const size_t end = newline == std::string::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

std::string joined(const Texts& parts) {
  std::string text;
  for (const std::string& p : parts) text += p;
  return text;
}

// The text with comments and the insides of strings as blanks: same length, same lines.
std::string code_of(std::string text) {
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < std::min(to, text.size()); ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      blank(i + 1, end);
      i = end;
    } else if (text.compare(i, 2, "//") == 0 || text.compare(i, 2, "/*") == 0) {
      const size_t end = text[i + 1] == '/' ? text.find('\n', i) : text.find("*/", i + 2) + 2;
      blank(i, end);
    }
  }
  return text;
}

// Words and single signs.
Texts tokens_of(const std::string& code) {
  Texts tokens;
  for (size_t i = 0; i < code.size();) {
    size_t end = i;
    while (end < code.size() && is_word(code[end])) ++end;
    if (end == i) ++end;
    if (code[i] != ' ' && code[i] != '\n' && code[i] != '\t') tokens.push_back(code.substr(i, end - i));
    i = end;
  }
  return tokens;
}

Names names_in(const std::string& code) {
  Names names;
  for (const std::string& token : tokens_of(code))
    if (is_name(token)) names.insert(token);
  return names;
}

bool share_a_name(const Names& a, const Names& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& n) { return b.count(n) > 0; });
}

// Neither uses what the other declares: either order means the same.
struct Unit {
  Names declares, uses;
};
bool independent(const Unit& a, const Unit& b) { return !share_a_name(a.declares, b.uses) && !share_a_name(b.declares, a.uses); }

// ---- declarations and functions at the margin ------------------------------------------------------------------------------

struct Piece {
  std::string text;
  bool movable = false;
  Unit unit;
};

// The words before one of ( = ; { [ outside all brackets. Of a definition of types, every word.
Names declared_in(const std::string& code) {
  static const Names types{"typedef", "using", "struct", "class", "union", "enum", "operator", "asm", "__asm__"};
  const Texts tokens = tokens_of(code);
  Names names;
  int depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (types.count(tokens[i])) return names_in(code);
    const char sign = tokens[i][0];
    if (depth == 0 && i > 0 && is_name(tokens[i - 1]) && std::string("(=;{[").find(sign) != std::string::npos) names.insert(tokens[i - 1]);
    depth += std::string("({[").find(sign) != std::string::npos;
    depth -= std::string(")}]").find(sign) != std::string::npos;
  }
  return names;
}

// Where the piece that begins at `at` ends: after the ; or the closing brace of a function, and the rest of its line.
size_t end_of_piece(const std::string& code, size_t at) {
  int depth = 0;
  for (size_t i = at; i < code.size(); ++i) {
    if (std::string("({[").find(code[i]) != std::string::npos) ++depth;
    const bool closes = std::string(")}]").find(code[i]) != std::string::npos;
    if (closes) --depth;
    if (depth > 0 || !(code[i] == ';' || code[i] == '}')) continue;
    const size_t next = code.find_first_not_of(" \t", i + 1);
    if (next == std::string::npos) return code.size();
    if (code[i] == '}' && code[next] != '\n') continue;  // the ; of a type or a list follows
    return code[next] == '\n' ? next + 1 : i + 1;
  }
  return code.size();
}

std::vector<Piece> pieces_of(const std::string& text) {
  const std::string code = code_of(text);
  std::vector<Piece> pieces;
  bool after_pragma = false;  // it may belong to what follows
  for (size_t at = 0; at < text.size();) {
    const size_t first = code.find_first_not_of(" \t\n", at);
    const bool directive = first != std::string::npos && code[first] == '#';
    size_t end = directive ? code.find('\n', first) : end_of_piece(code, at);
    while (directive && end != std::string::npos && code[end - 1] == '\\') end = code.find('\n', end + 1);
    if (directive) end = end == std::string::npos ? text.size() : end + 1;
    Piece piece{text.substr(at, end - at)};
    const std::string mine = code.substr(at, end - at);
    piece.unit = {declared_in(mine), names_in(mine)};
    piece.movable = !directive && !after_pragma && !is_blank(mine) && piece.text.back() == '\n';
    after_pragma = directive && mine.find("pragma") != std::string::npos;
    pieces.push_back(std::move(piece));
    at = end;
  }
  return pieces;
}

// Walks through the text some times; every pair that may change places does so or not: pieces travel far.
std::optional<std::string> swap_pieces(const std::string& text, Random& random) {
  std::vector<Piece> pieces = pieces_of(text);
  bool changed = false;
  for (int walk = 0; walk < 8; ++walk)
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      Piece &a = pieces[i], &b = pieces[i + 1];
      if (!a.movable || !b.movable || !independent(a.unit, b.unit) || random.below(2) == 0) continue;
      std::swap(a, b);
      changed = true;
    }
  std::string swapped;
  for (const Piece& p : pieces) swapped += p.text;
  return changed ? std::optional(swapped) : std::nullopt;
}

// ---- inside blocks -----------------------------------------------------------------------------------------------------------

// "  const T name = expression;" that calls nothing: reads only, so that it may change places with such a neighbour.
std::optional<Unit> constant_line(const std::string& line) {
  static const std::regex constant(R"(^ +const \w+ \w+ = [^;{}]*;\s*$)"), call(R"(\w+\s*\()");
  const std::string code = code_of(line);
  if (!std::regex_match(code, constant) || std::regex_search(code, call)) return std::nullopt;
  return Unit{declared_in(code), names_in(code)};
}

// The one statement of an if or a loop stays where it is.
bool ends_a_statement(const std::string& line) {
  const std::string code = code_of(line);
  const size_t last = code.find_last_not_of(" \t\n");
  return last == std::string::npos || code[last] == ';' || code[last] == '{' || code[last] == '}';
}

std::optional<std::string> swap_statements(const std::string& text, Random& random) {
  Texts lines = lines_of(text);
  bool changed = false;
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const auto a = constant_line(lines[i]), b = constant_line(lines[i + 1]);
    const bool same_block = lines[i].find_first_not_of(' ') == lines[i + 1].find_first_not_of(' ') && ends_a_statement(lines[i - 1]);
    if (!a || !b || !same_block || !independent(*a, *b) || random.below(2) == 0) continue;
    std::swap(lines[i], lines[i + 1]);
    changed = true;
  }
  return changed ? std::optional(joined(lines)) : std::nullopt;
}

// One or more of the names that blocks declare, throughout the text: whatever else has such a name gets the new one too.
std::optional<std::string> rename(const std::string& text, Random& random) {
  static const std::regex declared(R"(\n +(?:const )?(?:int64_t|int|float|double|real|ACC|Vec|auto) (\w+) = )");
  const std::string code = code_of(text);
  Names names;
  for (std::sregex_iterator m(code.begin(), code.end(), declared), none; m != none; ++m) {
    const std::string name = (*m)[1];
    if (!std::regex_search(code, std::regex("\\b" + name + R"(\s*\()"))) names.insert(name);
  }
  std::string renamed = text;
  for (const std::string& name : names)
    if (random.below(2)) renamed = std::regex_replace(renamed, std::regex("\\b" + name + "\\b"), fmt::format("{}_{}", name, random.below(1000)));
  return renamed == text ? std::nullopt : std::optional(renamed);
}

std::optional<std::string> comment(const std::string& text, Random& random) {
  Texts lines = lines_of(text);
  std::vector<size_t> places;
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].size() > 1 && lines[i][lines[i].size() - 2] == ';' && lines[i].back() == '\n') places.push_back(i);
  if (places.empty()) return std::nullopt;
  for (int i = 0; i < 3; ++i) {
    std::string& line = lines[places[random.below(places.size())]];
    line.insert(line.size() - 1, fmt::format("  // looked at again, note {}", random.below(1000)));
  }
  return joined(lines);
}

}  // namespace

EditedSource no_op_edits(const std::string& source, Random& random) {
  struct Edit {
    const char* name;
    std::optional<std::string> (*apply)(const std::string&, Random&);
  };
  static const std::vector<Edit> edits{
      {"comment", comment}, {"rename", rename}, {"reorder statements", swap_statements}, {"reorder declarations", swap_pieces}};
  EditedSource edited{source, ""};
  Texts done;
  for (const Edit& edit : edits) {
    if (random.below(2) == 0) continue;
    if (const auto text = edit.apply(edited.text, random)) {
      edited.text = *text;
      done.push_back(edit.name);
    }
  }
  if (done.empty())
    if (const auto text = comment(source, random)) edited = {*text, ""}, done.push_back("comment");
  edited.edits = fmt::format("{}", fmt::join(done, ", "));
  return edited;
}

std::string padded(const std::string& source, Random& random) {
  // The compiler writes such a line before the first function. Instructions, since a kernel's assembly may hold nothing else.
  std::string nops;
  for (uint64_t i = 16 * (1 + random.below(256)); i > 0; --i) nops += "nop;";
  return fmt::format("__asm__(\"{}\");\n", nops) + source;
}

std::string with_spin(const std::string& source, int64_t iterations) {
  const std::string entry = "extern \"C\" void amdahl_run(";
  const size_t at = source.find(entry);
  if (at == std::string::npos) throw Error(ExitCode::kInternal, "the kernel's text has no amdahl_run to plant time in");
  std::string text = source;
  text.replace(at, entry.size(), "static void amdahl_run_unplanted(");
  return text + fmt::format(R"(
// Planted. Volatile, so that the instructions do not depend on the number.
static const volatile long planted_iterations = {};
extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {{
  unsigned long long z = 1;
  for (long n = planted_iterations; n > 0; --n) z = z * 6364136223846793005ull + 1442695040888963407ull;
  volatile unsigned long long planted_result = z;
  amdahl_run_unplanted(in, out, workspace);
}}
)",
                            iterations);
}

std::string with_spin_on_card(const std::string& source, int64_t iterations) {
  static const std::regex beginning(R"(amdahl_kernel_0\(const __grid_constant__ Operands (\w+)\) \{[^}]*?wait_for_producers\(\);)");
  std::smatch kernel;
  if (!std::regex_search(source, kernel, beginning)) throw Error(ExitCode::kInternal, "the kernel's text has no beginning to plant time in");
  const std::string planted = fmt::format(R"(
  {{  // Planted.
    float z = 1;
#pragma unroll 1
    for (int n = planted_iterations; n > 0; --n) z = z * 0.999f + 1.5f;
    if (z == 12345) *(volatile float*){}.out[0] = z;
  }})",
                                          kernel[1].str());
  // Volatile, so that the instructions do not depend on the number.
  const std::string number = fmt::format("extern \"C\" __constant__ const volatile int planted_iterations = {};\n", iterations);
  std::string text = kernel.prefix().str() + kernel.str() + planted + kernel.suffix().str();
  return text.insert(text.rfind("extern \"C\" __global__", static_cast<size_t>(kernel.position())), number);
}

}  // namespace amdahl::trust

#include "starter_kernels/toolchain/placebo.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/random.h"

namespace amdahl {
namespace {

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : line.substr(first);
}

// "f" of ".type f, @function", else "".
std::string_view function_named(std::string_view line) {
  line = trimmed(line);
  if (line.rfind(".type", 0) != 0 || line.find("function") == std::string_view::npos) return {};
  line = trimmed(line.substr(5));
  return line.substr(0, line.find(','));
}

// n of ".p2align n", else -1.
int alignment_of(std::string_view line) {
  line = trimmed(line);
  if (line.rfind(".p2align", 0) != 0) return -1;
  line = trimmed(line.substr(8));
  int n = -1;
  std::from_chars(line.data(), line.data() + line.size(), n);
  return n;
}

bool is_directive(std::string_view line) {
  line = trimmed(line);
  return line.empty() || line[0] == '.' || line[0] == '#';
}

}  // namespace

std::string pad_functions(std::string_view assembly, uint64_t seed) {
  constexpr int kAlignment = 4;  // 2^4
  Random random(seed);
  std::string padded;
  int alignment = kAlignment;  // asked for since the last code
  while (!assembly.empty()) {
    const size_t end = std::min(assembly.find('\n'), assembly.size() - 1) + 1;
    const std::string_view line = assembly.substr(0, end);
    assembly.remove_prefix(end);
    if (!is_directive(line)) alignment = kAlignment;
    alignment = std::max(alignment, alignment_of(line));
    // A type without a label after it is an alias or a declaration.
    const std::string_view name = function_named(line);
    const bool starts = !name.empty() && assembly.rfind(name, 0) == 0 && assembly.size() > name.size() && assembly[name.size()] == ':';
    if (starts) padded += fmt::format("\t.skip {}, 0x90\n\t.p2align {}\n", 16 * random.below(256), alignment);
    padded += line;
  }
  return padded;
}

}  // namespace amdahl

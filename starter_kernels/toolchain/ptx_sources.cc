#include "starter_kernels/toolchain/ptx_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

namespace amdahl {
namespace {

bool is_name(const std::string& word) {
  return !std::isdigit(static_cast<unsigned char>(word[0])) &&
         (std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_' || word[0] == '$' || word[0] == '%');
}

// The places between brackets.
std::pair<size_t, size_t> brackets(const PtxStatement& s) {
  const auto open = std::find(s.words.begin(), s.words.end(), "["), close = std::find(open, s.words.end(), "]");
  return {static_cast<size_t>(open - s.words.begin()), static_cast<size_t>(close - s.words.begin())};
}

// Words of the first operand: a register, or several in braces.
std::pair<size_t, size_t> results(const PtxStatement& s) {
  if (s.words.size() < 2) return {1, 1};
  if (s.words[1] == "(" || s.words[1] == "{")
    return {2, static_cast<size_t>(std::find(s.words.begin(), s.words.end(), s.words[1] == "(" ? ")" : "}") - s.words.begin())};
  size_t end = 2;
  while (end < s.words.size() && s.words[end] == "|") end += 2;  // two predicates
  return {1, std::min(end, s.words.size())};
}

bool is_load(const PtxStatement& s) {
  const std::string_view what = operation(s.first());
  return what == "ld" || what == "ldu" || what == "atom" || what == "ldmatrix" || what == "call" || what == "multimem";
}

// The number that words from `from` to `to` are: "8", "-", "8". Nothing for what is none.
std::optional<int> number_in(const PtxStatement& s, size_t from, size_t to) {
  const bool negative = from < to && s.words[from] == "-";
  if (to != from + (negative ? 2 : 1)) return std::nullopt;
  char* end = nullptr;
  const long number = std::strtol(s.words[to - 1].c_str(), &end, 10);
  if (*end != 0 || number < 0 || number > 4096) return std::nullopt;
  return static_cast<int>(negative ? -number : number);
}

// Of "[name+8]", 8; of "[name]", 0. Nothing for another address.
std::optional<int> place_in_brackets(const PtxStatement& s) {
  const auto [open, close] = brackets(s);
  if (close == open + 2) return 0;
  return close > open + 3 && s.words[open + 2] == "+" ? number_in(s, open + 3, close) : std::nullopt;
}

// Of "&k_param_0+8", the parameter and the place.
std::pair<std::string, int> parameter_and_place(const std::string& address) {
  const size_t plus = address.find('+');
  return {address.substr(1, plus - 1), plus == std::string::npos ? 0 : std::atoi(address.c_str() + plus + 1)};
}

SourceNames computed_with(const SourceNames& names) {
  SourceNames plain;
  for (const std::string& n : names) plain.insert(n[0] == '&' ? parameter_and_place(n).first : n);
  return plain;
}

// What is added in "add.s64 %rd2, %rd1, 16".
std::optional<int> added_number(const PtxStatement& s) {
  return operation(s.first()) == "add" && s.words.size() > 5 ? number_in(s, 5, s.words.size()) : std::nullopt;
}

int bytes_of(const std::string& opcode) {
  return has_part(opcode, "b64") || has_part(opcode, "u64") || has_part(opcode, "s64") || has_part(opcode, "f64") ? 8 : 4;
}

}  // namespace

PtxSources::PtxSources(const PtxFunction& function) : function_(function) {
  do {
    changed_ = false;
    for (const PtxStatement& s : function.body) follow(s);
  } while (changed_);
}

void PtxSources::take(const PtxStatement& s, size_t from, size_t to, SourceNames* names) const {
  for (size_t i = from; i < std::min(to, s.words.size()); ++i) {
    if (!is_name(s.words[i])) continue;
    const auto known = registers_.find(s.words[i]);
    if (known != registers_.end()) names->insert(known->second.begin(), known->second.end());
    else if (s.words[i][0] != '%') names->insert(s.words[i]);
  }
}

SourceNames PtxSources::of(const PtxStatement& s) const {
  SourceNames names;
  take(s, 1, s.words.size(), &names);
  return computed_with(names);
}

SourceNames PtxSources::of_addresses(const PtxStatement& s) const {
  SourceNames names;
  bool inside = false;
  for (size_t i = 1; i < s.words.size(); ++i) {
    inside = (inside || s.words[i] == "[") && s.words[i] != "]";
    if (inside) take(s, i, i + 1, &names);
  }
  return computed_with(names);
}

void PtxSources::follow(const PtxStatement& s) {
  if (s.first().starts_with(".")) return;
  const auto [first, last] = results(s);
  const auto put = [&](const std::string& name, const SourceNames& names) {
    if (!is_name(name)) return;
    SourceNames& of_register = registers_[name];
    const size_t before = of_register.size();
    of_register.insert(names.begin(), names.end());
    changed_ |= of_register.size() != before;
  };
  if (auto [parameter, place] = read_parameter(s); !parameter.empty()) {
    for (size_t i = first; i < last; ++i)
      if (is_name(s.words[i])) put(s.words[i], {fmt::format("{}+{}", parameter, place)}), place += bytes_of(s.first());
    return;
  }
  SourceNames names;
  if (is_load(s)) names.insert(kMemory);
  else take(s, last, s.words.size(), &names);
  const bool is_copy = operation(s.first()) == "mov" && s.words.size() == 4;
  if (is_copy && is_parameter(s.words[3])) names = {"&" + s.words[3]};
  const std::optional<int> added = added_number(s);
  if (added && names.size() == 1 && (*names.begin())[0] == '&') {
    const auto [parameter, place] = parameter_and_place(*names.begin());
    names = {fmt::format("&{}+{}", parameter, place + *added)};
  } else if (!is_copy) {
    names = computed_with(names);
  }
  for (size_t i = first; i < last; ++i) put(s.words[i], names);
}

bool PtxSources::is_parameter(const std::string& name) const {
  return std::find(function_.parameters.begin(), function_.parameters.end(), name) != function_.parameters.end();
}

// The parameter that is read, and the place that stands there, or "".
std::pair<std::string, int> PtxSources::read_parameter(const PtxStatement& s) const {
  const std::pair<std::string, int> none{"", 0};
  if (operation(s.first()) != "ld" || !has_part(s.first(), "param")) return none;
  const std::optional<int> behind = place_in_brackets(s);
  if (!behind) return none;
  const std::string& name = s.words[brackets(s).first + 1];
  if (is_parameter(name)) return {name, *behind};
  const auto held = registers_.find(name);
  if (held == registers_.end() || held->second.size() != 1 || (*held->second.begin())[0] != '&') return none;
  const auto [parameter, place] = parameter_and_place(*held->second.begin());
  return {parameter, place + *behind};
}

}  // namespace amdahl

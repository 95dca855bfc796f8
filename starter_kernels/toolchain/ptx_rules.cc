#include "starter_kernels/toolchain/ptx_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

#include "starter_kernels/toolchain/ptx_code.h"
#include "starter_kernels/toolchain/ptx_sources.h"

namespace amdahl {
namespace {

using Names = std::set<std::string, std::less<>>;

// Special registers that say which part of the work a thread has. Not here: clocks, counters, and where on the card it runs.
const Names kPlaces{"%tid",
                    "%ntid",
                    "%ctaid",
                    "%nctaid",
                    "%laneid",
                    "%lanemask_eq",
                    "%lanemask_le",
                    "%lanemask_lt",
                    "%lanemask_ge",
                    "%lanemask_gt",
                    "%clusterid",
                    "%nclusterid",
                    "%cluster_ctaid",
                    "%cluster_nctaid",
                    "%cluster_ctarank",
                    "%cluster_nctarank",
                    "%is_explicit_cluster"};
// What NVIDIA's compiler calls registers of its own, before their numbers.
const Names kOfCompiler{"%p", "%rs", "%r", "%rd", "%rq", "%f", "%fd", "%h", "%hh", "%SP", "%SPL", "%temp"};

const Names kOperations{"nanosleep", "createpolicy", "applypriority", "discard", "prefetch", "prefetchu", "pmevent", "brkpt"};

std::string_view without_component(std::string_view name) {
  const size_t dot = name.find('.');
  return dot == name.npos ? name : name.substr(0, dot);
}
std::string_view without_number(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name;
}

// "%r12" of the compiler's; registers that a text declares in asm() are spelled without %.
bool is_known(std::string_view name) { return kOfCompiler.count(without_number(name)) || kPlaces.count(without_component(name)); }

std::string speaks_to_caches(const std::string& opcode) {
  for (const char* part : {"prefetch", "L2::cache_hint", "L1::evict_last", "L2::evict_last"})
    if (has_part(opcode, part)) return part;
  return "";
}

std::string refused_word(const PtxStatement& s) {
  if (kOperations.count(std::string(operation(s.first())))) return std::string(operation(s.first()));
  if (const std::string part = speaks_to_caches(s.first()); !part.empty()) return part;
  for (const std::string& word : s.words)
    if (word.size() > 1 && word[0] == '%' && !is_known(word)) return word;
  return "";
}

// The digits of 2/pi and the coefficients that NVIDIA's own sin and cos read.
bool is_of_library(std::string_view name) {
  const std::string_view plain = name.substr(0, name.find('$'));
  return plain == "__cudart_i2opi_f" || plain == "__cudart_i2opi_d" || plain == "__cudart_sin_cos_coeffs";
}

// The name that a declaration gives: of ".global .align 4 .b8 table[24] = {…}", table.
std::string declared_name(const PtxStatement& s) {
  size_t end = 0;
  while (end < s.words.size() && s.words[end] != "[" && s.words[end] != "=") ++end;
  return end > 0 ? s.words[end - 1] : "";
}

bool says(const PtxStatement& s, std::string_view word) { return std::find(s.words.begin(), s.words.end(), word) != s.words.end(); }

PtxRefusal refused_declaration(const PtxStatement& s) {
  if (says(s, ".extern") && !says(s, ".shared"))
    return {"forbidden-symbol",
            fmt::format("the kernel asks the driver for {}, and a kernel computes with its own code and operands alone",
                        says(s, ".func") ? s.words.back() == ")" ? "a function (printf, malloc, assert, a launch)" : s.words.back() : declared_name(s))};
  if (says(s, ".global") && s.first().starts_with(".") && !is_of_library(declared_name(s)))
    return {"odd-library", fmt::format("the kernel keeps {} between calls: numbers that are known when it is compiled are enumerators, others are operands",
                                       declared_name(s))};
  return {};
}

PtxRefusal refused_statement(const PtxStatement& s) {
  if (s.first().starts_with(".")) {
    if (PtxRefusal refusal = refused_declaration(s); !refusal.code.empty()) return refusal;
  }
  if (const std::string word = refused_word(s); !word.empty())
    return {"forbidden-instruction",
            fmt::format("the kernel's code holds {}, which no kernel needs: it waits, asks for the time or for where it runs, or speaks to caches", word)};
  return {};
}

// What is written through an address that comes from a table of the library's, or where such an address goes that it cannot be followed.
PtxRefusal refused_write(const PtxFunction& function) {
  const PtxSources sources(function);
  for (const PtxStatement& s : function.body) {
    const std::string_view what = operation(s.first());
    if (what != "st" && what != "atom" && what != "red" && what != "cp" && what != "call" && what != "multimem") continue;
    for (const std::string& name : sources.of(s))
      if (is_of_library(name)) return {"odd-library", fmt::format("the kernel writes to {}, which would outlive the call", name)};
  }
  return {};
}

}  // namespace

PtxRefusal refused_ptx(const std::string& text) {
  try {
    const PtxCode code = read_ptx(text);
    for (const PtxStatement& s : code.declarations)
      if (PtxRefusal refusal = refused_statement(s); !refusal.code.empty()) return refusal;
    for (const PtxFunction& f : code.functions) {
      for (const PtxStatement& s : f.body)
        if (PtxRefusal refusal = refused_statement(s); !refusal.code.empty()) return refusal;
      if (PtxRefusal refusal = refused_write(f); !refusal.code.empty()) return refusal;
    }
    return {};
  } catch (const std::runtime_error& error) {
    return {"odd-library", error.what()};
  }
}

}  // namespace amdahl

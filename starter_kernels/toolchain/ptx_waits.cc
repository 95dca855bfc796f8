#include "starter_kernels/toolchain/ptx_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "starter_kernels/toolchain/ptx_sources.h"

namespace amdahl {
namespace {

bool waits(const PtxStatement& s) { return operation(s.first()) == "griddepcontrol" && has_part(s.first(), "wait") && !s.guarded; }
bool ends(const PtxStatement& s) { return operation(s.first()) == "ret" || operation(s.first()) == "exit"; }
bool goes_on(const PtxStatement& s) {
  const std::string_view what = operation(s.first());
  return s.guarded || (!ends(s) && what != "bra" && what != "brx" && what != "trap");
}

// By statement: whether all paths from the beginning to it have waited.
std::vector<bool> waited_before(const std::vector<PtxStatement>& body) {
  std::multimap<std::string, size_t> places;
  for (size_t i = 0; i < body.size(); ++i)
    for (const std::string& label : body[i].labels) places.emplace(label, i);
  std::vector<bool> waited(body.size(), true);
  std::vector<size_t> to_look_at;
  const auto reach_unwaited = [&](size_t i) {
    if (i < body.size() && waited[i]) waited[i] = false, to_look_at.push_back(i);
  };
  reach_unwaited(0);
  while (!to_look_at.empty()) {
    const size_t i = to_look_at.back();
    to_look_at.pop_back();
    const PtxStatement& s = body[i];
    if (waits(s)) continue;
    if (goes_on(s)) reach_unwaited(i + 1);
    if (operation(s.first()) == "bra")
      for (auto [at, end] = places.equal_range(s.words.back()); at != end; ++at) reach_unwaited(at->second);
    if (operation(s.first()) == "brx")  // to one of a table
      for (const auto& [label, at] : places) reach_unwaited(at);
  }
  return waited;
}

// Whether it may reach the card's memory.
bool touches_memory(const PtxStatement& s) {
  static const std::set<std::string_view> kOwn{"shared", "local", "param", "const"};
  static const std::set<std::string_view> kTouches{"ld", "ldu", "st", "atom", "red", "cp", "call", "multimem", "tex", "tld4", "suld", "sust", "sured"};
  if (!kTouches.count(operation(s.first()))) return false;
  if (operation(s.first()) == "cp" && (has_part(s.first(), "commit_group") || has_part(s.first(), "wait_group") || has_part(s.first(), "wait_all")))
    return false;
  if (has_part(s.first(), "global")) return true;
  return operation(s.first()) == "call" || std::none_of(kOwn.begin(), kOwn.end(), [&](std::string_view space) { return has_part(s.first(), space); });
}

bool only_reads(const PtxStatement& s) {
  const std::string_view what = operation(s.first());
  return what == "ld" || what == "ldu" || (what == "cp" && s.first().find(".global") > s.first().find(".shared"));
}

// What may be read at any time: memory of the block's own, tables, and packed copies, which are written before the first call.
class Readable {
 public:
  Readable(const PtxCode& code, const PtxFunction& kernel, const cuda::Cubin& cubin) {
    for (const PtxStatement& s : code.declarations) add_variables(s);
    for (const PtxStatement& s : kernel.body) add_variables(s);
    if (kernel.parameters.empty()) return;
    names_.insert(kernel.parameters[0]);
    for (size_t i = 0; i < cubin.packs.size(); ++i)
      if (cubin.packs[i].bytes > 0) names_.insert(fmt::format("{}+{}", kernel.parameters[0], 8 * i));
  }
  bool holds(const SourceNames& names) const {
    return std::all_of(names.begin(), names.end(), [&](const std::string& n) { return names_.count(n) > 0; });
  }

 private:
  void add_variables(const PtxStatement& s) {
    if (!s.first().starts_with(".") || s.first() == ".reg") return;
    for (size_t i = 1; i <= s.words.size(); ++i)
      if (i == s.words.size() || s.words[i] == "[" || s.words[i] == "=" || s.words[i] == ",") names_.insert(s.words[i - 1]);
  }
  std::set<std::string> names_;
};

std::string touched_by(const PtxCode& code, const PtxFunction& kernel, const cuda::Cubin& cubin) {
  const std::vector<bool> waited = waited_before(kernel.body);
  const PtxSources sources(kernel);
  const Readable readable(code, kernel, cubin);
  for (size_t i = 0; i < kernel.body.size(); ++i) {
    const PtxStatement& s = kernel.body[i];
    if (waited[i]) continue;
    if (ends(s)) return fmt::format("{} may end", kernel.name);
    if (!touches_memory(s)) continue;
    if (!only_reads(s)) return fmt::format("{} may write ({})", kernel.name, s.first());
    if (!readable.holds(sources.of_addresses(s))) return fmt::format("{} may read what is no packed copy ({})", kernel.name, s.first());
  }
  return "";
}

}  // namespace

std::string touches_before_it_waits(const PtxCode& code, const cuda::Cubin& cubin) {
  if (!cubin.begins_early) return "";
  for (const PtxFunction& f : code.functions) {
    const bool is_launched = std::any_of(cubin.launches.begin(), cubin.launches.end(), [&](const cuda::Launch& l) { return l.function() == f.name; });
    if (!is_launched) continue;
    if (std::string touched = touched_by(code, f, cubin); !touched.empty()) return touched;
  }
  return "";
}

}  // namespace amdahl

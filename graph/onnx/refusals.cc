#include "graph/onnx/refusals.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/printable.h"

namespace amdahl {
namespace {

constexpr size_t kWhyCharacters = 400, kWhys = 4, kLines = 60;

// Numbers in the words of one refusal differ from node to node, but the longest are cut before they are kept.
std::string bounded(const std::string& why) { return shortened(printable(why), kWhyCharacters); }

std::string quoted(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(fmt::format("'{}'", name));
  return listed(all, ", ", 6);
}

std::string places_text(const std::string& kind, const std::vector<std::string>& names) {
  return names.size() == 1 ? fmt::format("{} {}", kind, quoted(names)) : fmt::format("{} ({})", counted(names.size(), kind), quoted(names));
}

}  // namespace

void Refusals::add(const std::string& what, const std::string& kind, const std::string& name, const std::string& why) {
  const auto [group_at, new_group] = at_.try_emplace({what, kind}, groups_.size());
  if (new_group) groups_.push_back({what, kind, {}, {}});
  Group& group = groups_[group_at->second];
  const auto [why_at, new_why] = group.at.try_emplace(bounded(why), group.whys.size());
  if (new_why) group.whys.emplace_back(why_at->first, Places{});
  group.whys[why_at->second].second.push_back(shown(name));
}

std::string Refusals::line_of(const Group& group) {
  const std::string head = group.what.empty() ? "" : group.what + ", ";
  if (group.whys.size() == 1) return fmt::format("{}{}: {}", head, places_text(group.kind, group.whys[0].second), group.whys[0].first);
  std::vector<std::string> parts;
  size_t places = 0;
  for (const auto& [why, names] : group.whys) {
    parts.push_back(fmt::format("{} ({})", why, quoted(names)));
    places += names.size();
  }
  return fmt::format("{}{}: {}", head, counted(places, group.kind), listed(parts, "; ", kWhys));
}

void Refusals::raise() const {
  if (groups_.empty()) return;
  std::vector<std::string> lines;
  for (const Group& group : groups_) lines.push_back(line_of(group));
  if (lines.size() == 1) throw Error(ExitCode::kUnsupported, "this model cannot run: " + lines[0]);
  throw Error(ExitCode::kUnsupported, fmt::format("this model cannot run, for {}:\n  {}", counted(lines.size(), "reason"), listed(lines, "\n  ", kLines)));
}

std::string operator_text(const std::string& domain, const std::string& op, int version) {
  return fmt::format("{} ({} {})", shown(op), domain.empty() ? "ai.onnx" : shown(domain), version);
}

}  // namespace amdahl

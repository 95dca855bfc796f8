#include "profiler/print_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/counted.h"
#include "base/time_text.h"

namespace amdahl {
namespace {

// Display columns: UTF-8 continuation bytes take none.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string cut(const std::string& text, size_t width) {
  if (width_of(text) <= width) return text;
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < text.size() && used < width - 1;) {
    size_t end = i + 1;
    while (end < text.size() && (text[end] & 0xc0) == 0x80) ++end;
    out.append(text, i, end - i);
    i = end;
    ++used;
  }
  return out + "…";
}

std::string left(const std::string& text, size_t width) {
  const std::string fitting = cut(text, width);
  return fitting + std::string(width - width_of(fitting), ' ');
}
std::string right(const std::string& text, size_t width) {
  const size_t used = width_of(text);
  return used < width ? std::string(width - used, ' ') + text : text;
}

constexpr size_t kComputes = 35;

struct Row {
  std::string rank, kind, computes, count, time, share, mflop, megabytes, intensity, achieved, limit, roof, won, model;

  std::string text(bool wide) const {
    std::string line = right(rank, 2) + " " + left(kind, 9) + " " + left(computes, kComputes) + right(count, 4) + right(time, 8) + right(share, 7);
    if (wide) line += right(mflop, 8) + right(megabytes, 8) + right(intensity, 7);
    line += right(achieved, 10) + " " + left(limit, 7);
    if (wide) line += right(roof, 7);
    return line + right(won, 8) + right(model, 7) + "\n";
  }
};

// What the group achieves in the unit that limits it: GF/s against the arithmetic peak, GB/s against a level's bandwidth.
std::string achieved(const StepProfile& step, double seconds) {
  if (seconds <= 0) return "";
  if (step.floor.bound == Bound::kCompute) return three_digits(step.cost.flops / seconds / 1e9) + " GF/s";
  if (step.floor.bound == Bound::kCall) return "";
  return three_digits(step.bytes() / seconds / 1e9) + " GB/s";
}

std::string percent(double share) { return fmt::format("{:.1f}%", share * 100); }

std::string count_text(double n) {
  if (n >= 1e12) return three_digits(n / 1e12) + " T";
  if (n >= 1e9) return three_digits(n / 1e9) + " G";
  if (n >= 1e6) return three_digits(n / 1e6) + " M";
  if (n >= 1e3) return three_digits(n / 1e3) + " k";
  return (n < 1 ? fmt::format("{:.2g}", n) : three_digits(n)) + " ";
}

std::string size_text(int64_t bytes) {
  if (bytes >= 10 << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

std::string headline(const Profile& profile, const Ceilings& ceilings) {
  const double peak = ceilings.peak_gflops(profile.threads) * 1e9;
  const double rate = profile.flops() / profile.seconds;
  std::string out = fmt::format(
      "{} a run on {} (median of {}, spread {:.1f}%)\n"
      "{}FLOP a run: {}FLOP/s, {:.0f}% of the measured fp32 peak of {}FLOP/s\n"
      "every step at its roofline: {}, {:.2f}x faster\n\n",
      time_text(profile.seconds), counted(profile.threads, "thread"), profile.runs, profile.spread * 100, count_text(profile.flops()), count_text(rate),
      peak > 0 ? rate / peak * 100 : 0, count_text(peak), time_text(profile.floor_seconds),
      profile.floor_seconds > 0 ? profile.seconds / profile.floor_seconds : 1);
  if (profile.spread > 0.1) out += "The runs differ a lot: other programs use this machine. Take times and ranking with care.\n\n";
  return out;
}

// One unit for the whole table, so that columns compare.
struct TimeUnit {
  bool micro;
  const char* name() const { return micro ? "µs" : "ms"; }
  std::string of(double seconds) const { return three_digits(seconds * (micro ? 1e6 : 1e3)); }
};

// `first`: one of the group's steps, which are equal.
Row row_of(int number, const GroupProfile& group, const StepProfile& first, TimeUnit unit) {
  Row row{std::to_string(number), first.kind, first.computes, std::to_string(group.steps.size())};
  row.time = unit.of(group.seconds);
  row.share = percent(group.share);
  row.mflop = three_digits(first.cost.flops / 1e6);
  row.megabytes = three_digits(first.bytes() / 1e6);
  row.intensity = three_digits(first.intensity());
  row.achieved = achieved(first, group.seconds / static_cast<double>(group.steps.size()));
  row.limit = std::string(name_of(first.floor.bound));
  row.roof = group.seconds > 0 ? fmt::format("{:.0f}%", group.floor_seconds / group.seconds * 100) : "";
  row.won = unit.of(group.winnable_seconds);
  row.model = three_digits(group.speedup_if_won) + "x";
  return row;
}

// The groups from `from` on, in one line.
Row rest_of(const std::vector<GroupProfile>& ranking, size_t from, TimeUnit unit) {
  GroupProfile rest;
  for (size_t i = from; i < ranking.size(); ++i) {
    rest.steps.insert(rest.steps.end(), ranking[i].steps.begin(), ranking[i].steps.end());
    rest.seconds += ranking[i].seconds;
    rest.share += ranking[i].share;
    rest.winnable_seconds += ranking[i].winnable_seconds;
  }
  Row row{"", "", fmt::format("{} more groups", ranking.size() - from), std::to_string(rest.steps.size()), unit.of(rest.seconds), percent(rest.share)};
  row.won = unit.of(rest.winnable_seconds);
  return row;
}

}  // namespace

std::string profile_table(const Profile& profile, const Ceilings& ceilings, int rows, bool wide) {
  if (profile.steps.empty()) return "nothing is computed: all outputs are inputs or constants\n";
  const TimeUnit unit{profile.seconds < 5e-3};
  std::string out = headline(profile, ceilings);
  out += Row{"", "kind", "computes", "×", unit.name(), "share", "MFLOP", "MB", "F/B", "achieved", "limit", "of roof", "to win", "model"}.text(wide);
  std::map<int, const StepProfile*> step_of;
  for (const StepProfile& step : profile.steps) step_of[step.step] = &step;
  const size_t shown = std::min(profile.ranking.size(), static_cast<size_t>(std::max(rows, 0)));
  for (size_t i = 0; i < shown; ++i) {
    const GroupProfile& group = profile.ranking[i];
    out += row_of(static_cast<int>(i) + 1, group, *step_of.at(group.steps.front()), unit).text(wide);
  }
  if (shown < profile.ranking.size()) out += rest_of(profile.ranking, shown, unit).text(wide);
  out +=
      "\n×: equal steps. limit: what bounds the step on this machine. to win: time above its roofline.\n"
      "model: speedup of the whole model if that were won.\n";
  if (wide) out += "MFLOP, MB: one step's operations and least bytes. F/B: operations a byte. of roof: floor against time.\n";
  return out;
}

std::string counters_text(const CounterReading& reading, int runs) {
  std::string out = "a run: ";
  for (size_t i = 0; i < reading.values.size(); ++i) {
    const CounterReading::Value& v = reading.values[i];
    const double each = v.count / std::max(1, runs);
    if (v.name == "processor seconds") out += fmt::format("{}{} processor time", i ? ", " : "", time_text(each));
    else out += fmt::format("{}{}{}{}", i ? ", " : "", v.scaled ? "~" : "", count_text(each), v.name);
  }
  const auto* cycles = reading.find("cycles");
  const auto* instructions = reading.find("instructions");
  if (cycles && instructions && cycles->count > 0) out += fmt::format(" ({:.2f} instructions a cycle)", instructions->count / cycles->count);
  out += "\n";
  if (!reading.hardware) out += fmt::format("no hardware counters: {}\n", reading.why);
  if (reading.hardware && reading.coverage < 0.999) out += fmt::format("~: counters were shared; estimated from {:.0f}% of the time\n", reading.coverage * 100);
  return out;
}

std::string ceilings_table(const Ceilings& c) {
  std::string out;
  std::vector<int> threads;
  for (const ArithmeticCeiling& a : c.arithmetic)
    if (std::find(threads.begin(), threads.end(), a.threads) == threads.end()) threads.push_back(a.threads);
  const auto header = [&](const std::string& title, const std::string& unit) {
    out += left(title, 28);
    for (int t : threads) out += right(counted(t, "thread"), 12);
    out += "   " + unit + "\n";
  };
  header("arithmetic", "GFLOP/s");
  for (const ArithmeticCeiling& a : c.arithmetic) {
    if (a.threads != threads.front()) continue;
    out += left("  " + a.form, 28);
    for (int t : threads)
      for (const ArithmeticCeiling& b : c.arithmetic)
        if (b.form == a.form && b.threads == t) out += right(three_digits(b.gflops), 12);
    out += "\n";
  }
  header("bandwidth", "GB/s");
  for (const BandwidthCeiling& a : c.bandwidth) {
    if (a.threads != threads.front()) continue;
    out += left(fmt::format("  {:<4} {}", name_of(a.level), a.pattern), 28);
    for (int t : threads)
      for (const BandwidthCeiling& b : c.bandwidth)
        if (b.level == a.level && b.pattern == a.pattern && b.threads == t) out += right(three_digits(b.gbs), 12);
    out += a.level == MemoryLevel::kDram ? "\n" : fmt::format("   of {} a thread\n", size_text(a.bytes));
  }
  return out;
}

nlohmann::json profile_json(const Profile& profile) {
  nlohmann::json j = {
      {"threads", profile.threads}, {"runs", profile.runs}, {"seconds", profile.seconds}, {"spread", profile.spread}, {"floor_seconds", profile.floor_seconds},
      {"flops", profile.flops()}};
  j["steps"] = nlohmann::json::array();
  j["ranking"] = nlohmann::json::array();
  for (const StepProfile& s : profile.steps)
    j["steps"].push_back({{"step", s.step},
                          {"kind", s.kind},
                          {"computes", s.computes},
                          {"nodes", s.nodes},
                          {"signature", s.signature},
                          {"seconds", s.seconds},
                          {"spread", s.spread},
                          {"flops", s.cost.flops},
                          {"bytes", s.bytes()},
                          {"weight_bytes", s.cost.weight_bytes},
                          {"intensity", s.intensity()},
                          {"floor_seconds", s.floor.seconds},
                          {"bound", name_of(s.floor.bound)}});
  for (const GroupProfile& g : profile.ranking)
    j["ranking"].push_back({{"steps", g.steps},
                            {"seconds", g.seconds},
                            {"floor_seconds", g.floor_seconds},
                            {"share", g.share},
                            {"winnable_seconds", g.winnable_seconds},
                            {"speedup_if_won", g.speedup_if_won}});
  return j;
}

}  // namespace amdahl

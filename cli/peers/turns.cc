#include "cli/peers/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/random.h"
#include "base/statistics.h"
#include "experiments/comparison_text.h"
#include "graph/onnx/tensor_io.h"
#include "tuner/measurement/decision.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

// The caches belong to others when a turn begins, and threads that have rested may share a CPU for some milliseconds.
constexpr double kWarmSeconds = 0.05, kTimedSeconds = 0.1;
constexpr int kFewestRuns = 3, kMostRuns = 400;
// Where its speed is known, an arm that hangs is found sooner than by the limit that loading needs.
constexpr double kLongestTurn = 30, kSlowerByAccident = 20;
// Beyond these an arm computes something else: two runtimes in f32 are 1e-7 to 1e-4 apart, products in bf16 some 1e-2.
constexpr double kDifferenceF32 = 1e-2, kDifferenceBf16 = 1e-1;

class ArmInTurn {
 public:
  ArmInTurn(const ArmSpec& spec, double limit) : row(spec.row), own_reference_(spec.own_reference), limit_(limit), process_(spec.command, limit) {}

  // `kFewestRuns` timed runs, or as many as take kTimedSeconds, behind untimed ones.
  void turn() {
    if (run_seconds_ <= 0) run_seconds_ = std::max(run(kFewestRuns, limit_).back(), 1e-9);
    const int warm = std::clamp(runs_in(kWarmSeconds), 1, kMostRuns), timed = std::clamp(runs_in(kTimedSeconds), kFewestRuns, kMostRuns);
    const double expected = run_seconds_ * (warm + timed);
    std::vector<double> seconds = run(warm + timed, std::min(limit_, kLongestTurn + kSlowerByAccident * expected));
    seconds.erase(seconds.begin(), seconds.begin() + warm);
    runs_.insert(runs_.end(), seconds.begin(), seconds.end());
    run_seconds_ = std::max(median(std::move(seconds)), 1e-9);
    row.round_seconds.push_back(run_seconds_);
  }

  // DIR gets its outputs. False where it has none to give.
  bool save(const std::string& folder, const char* request = "save") {
    fs::create_directories(folder);
    return process_.ask(fmt::format("{} {}", request, folder), "saved", limit_).empty();
  }

  void sum_up() {
    if (runs_.empty()) return;
    row.seconds = median(row.round_seconds);
    std::sort(runs_.begin(), runs_.end());
    row.quiet_seconds = runs_[runs_.size() / 10];
  }

  bool own_reference() const { return own_reference_; }
  ComparedArm row;

 private:
  int runs_in(double seconds) const { return static_cast<int>(std::min(std::ceil(seconds / run_seconds_), 1.0 * kMostRuns)); }

  std::vector<double> run(int runs, double limit) {
    const std::vector<std::string> words = process_.ask(fmt::format("run {}", runs), "times", limit);
    std::vector<double> seconds;
    for (const std::string& word : words) seconds.push_back(1e-3 * std::strtod(word.c_str(), nullptr));
    if (seconds.size() != static_cast<size_t>(runs) || !std::all_of(seconds.begin(), seconds.end(), [](double s) { return s > 0 && std::isfinite(s); }))
      throw ArmFailed(fmt::format("answered to {} runs with what are not {} times", runs, runs));
    return seconds;
  }

  bool own_reference_;
  double limit_;
  double run_seconds_ = 0;
  std::vector<double> runs_;
  ArmProcess process_;
};

// One `ArmInTurn` a spec, null where it does not run (any more); then its row is in `rows` already.
struct Field {
  std::vector<std::unique_ptr<ArmInTurn>> arms;
  std::vector<ComparedArm> rows;

  void give_up(size_t i, const std::string& why) {
    if (i == 0)
      throw Error(ExitCode::kNotVerified, fmt::format("{} could not be measured, so that there is nothing to compare with: {}; `amdahl run` tries the same "
                                                      "model alone",
                                                      rows[i].title, why));
    if (arms[i]) {
      arms[i]->sum_up();
      rows[i] = arms[i]->row;
    }
    rows[i].reason = why;
    arms[i].reset();
  }
  template <typename What>
  void with(size_t i, const What& what) {
    try {
      what(*arms[i]);
    } catch (const ArmFailed& failure) {
      give_up(i, failure.what());
    }
  }
};

Field start(const std::vector<ArmSpec>& specs, const TurnOptions& options, const TurnWatch& watch) {
  Field field;
  field.arms.resize(specs.size());
  for (const ArmSpec& spec : specs) field.rows.push_back(spec.row);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].row.reason.empty()) continue;
    watch.progress(0, 0, "starting " + label_of(specs[i].row));
    try {
      field.arms[i] = std::make_unique<ArmInTurn>(specs[i], options.limit);
    } catch (const ArmFailed& failure) {
      field.give_up(i, failure.what());
    }
  }
  return field;
}

void take_rounds(Field& field, const TurnOptions& options, const TurnWatch& watch) {
  Random random(options.seed);
  std::vector<size_t> order(field.arms.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const size_t i : order) {
      if (!field.arms[i]) continue;
      watch.progress(round, options.rounds, fmt::format("round {}, {}", round + 1, label_of(field.rows[i])));
      watch.before_turn(round);
      field.with(i, [](ArmInTurn& arm) { arm.turn(); });
    }
  }
}

double readable_difference(const std::string& got, const std::string& want) {
  try {
    return largest_difference(got, want);
  } catch (const Error& error) {
    throw ArmFailed(fmt::format("its outputs cannot be read: {}", error.what()));
  }
}

void compare_outputs(Field& field, const TurnOptions& options) {
  const std::string ours = options.folder + "/ours", got = options.folder + "/got", wanted = options.folder + "/wanted";
  bool have_ours = false;
  field.with(0, [&](ArmInTurn& arm) { have_ours = arm.save(ours); });
  for (size_t i = 1; i < field.arms.size(); ++i) {
    if (!field.arms[i]) continue;
    field.with(i, [&](ArmInTurn& arm) {
      for (const std::string& folder : {got, wanted}) fs::remove_all(folder);
      if (!arm.save(got) || !(arm.own_reference() ? arm.save(wanted, "reference") : have_ours)) return;
      arm.row.compared_with = arm.own_reference() ? "its own eager" : "ours";
      arm.row.difference = readable_difference(got, arm.own_reference() ? wanted : ours);
      const double most = arm.row.precision == "f32" ? kDifferenceF32 : kDifferenceBf16;
      if (!(*arm.row.difference <= most))
        throw ArmFailed(fmt::format("computes something else: its outputs are {:.1e} from {}", *arm.row.difference, arm.row.compared_with));
    });
  }
}

}  // namespace

double largest_difference(const std::string& got_folder, const std::string& want_folder) {
  const auto count = [](const std::string& folder) { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); };
  if (count(got_folder) != count(want_folder)) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (int64_t o = 0; o < count(want_folder); ++o) {
    const Tensor got = load_tensor(fmt::format("{}/{}.npy", got_folder, o)), want = load_tensor(fmt::format("{}/{}.npy", want_folder, o));
    if (got.shape() != want.shape()) return std::numeric_limits<double>::infinity();
    const std::vector<double> g = to_doubles(got), w = to_doubles(want);
    double apart = 0, norm = 0;
    for (size_t i = 0; i < w.size(); ++i) {
      if (std::isfinite(g[i]) != std::isfinite(w[i])) return std::numeric_limits<double>::infinity();
      if (!std::isfinite(w[i])) continue;
      apart += (g[i] - w[i]) * (g[i] - w[i]);
      norm += w[i] * w[i];
    }
    largest = std::max(largest, std::sqrt(apart) / std::max(std::sqrt(norm), 1e-300));
  }
  return largest;
}

Gain over_ours(const std::vector<double>& theirs, const std::vector<double>& ours) {
  std::vector<double> logs;
  for (size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i) logs.push_back(std::log(theirs[i] / ours[i]));
  return logs.empty() ? Gain{} : estimate(std::move(logs));
}

std::vector<ComparedArm> take_turns(const std::vector<ArmSpec>& specs, const TurnOptions& options, const TurnWatch& watch) {
  Field field = start(specs, options, watch);
  take_rounds(field, options, watch);
  watch.progress(options.rounds, options.rounds, "outputs");
  compare_outputs(field, options);
  for (size_t i = 0; i < field.arms.size(); ++i) {
    if (!field.arms[i]) continue;
    field.arms[i]->sum_up();
    field.rows[i] = field.arms[i]->row;
  }
  for (ComparedArm& row : field.rows) row.over_ours = over_ours(row.round_seconds, field.rows[0].round_seconds);
  return field.rows;
}

}  // namespace amdahl

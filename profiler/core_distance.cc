#include "profiler/core_distance.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/machine.h"
#include "base/statistics.h"
#include "profiler/take_cpu.h"

namespace amdahl {
namespace {

constexpr std::chrono::milliseconds kAtMost{50};
constexpr int kTurns = 200, kRepetitions = 25;  // 200 turns take 8 to 35 us

struct alignas(128) Line {  // 128: Intel's prefetcher takes lines in pairs
  std::atomic<int> turn{0};
};

// Two threads count the line up, one from even numbers, one from odd ones.
class Game {
 public:
  explicit Game(Clock::time_point end) : end_(end) {}

  // False when time is up.
  bool play(int player) {
    for (int turn = player; turn < kTurns * kRepetitions; turn += 2) {
      for (int spins = 0; line_.turn.load(std::memory_order_acquire) != turn; ++spins)
        if (spins % 4096 == 4095 && Clock::now() > end_) return false;
      if (turn % kTurns == 0) starts_.push_back(Clock::now());  // by player 0 alone: kTurns is even
      line_.turn.store(turn + 1, std::memory_order_release);
    }
    return true;
  }

  double median_turn() const {
    std::vector<double> seconds;
    for (size_t i = 1; i < starts_.size(); ++i) seconds.push_back(std::chrono::duration<double>(starts_[i] - starts_[i - 1]).count() / kTurns);
    return median(std::move(seconds));
  }

 private:
  const Clock::time_point end_;
  Line line_;
  std::vector<Clock::time_point> starts_;
};

}  // namespace

double core_distance_seconds() {
  const int cpus = this_machine().units;
  if (cpus < 2) return 0;
  Game game(Clock::now() + kAtMost);
  bool played[2] = {};
  std::thread players[2];
  for (int player : {0, 1})
    players[player] = std::thread([&, player] {
      take_cpu(player == 0 ? 0 : cpus - 1, cpus);
      played[player] = game.play(player);
    });
  for (std::thread& p : players) p.join();
  return played[0] && played[1] ? game.median_turn() : 0;
}

}  // namespace amdahl

#include "tuner/builder.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "tuner/object_code.h"
#include "tuner/worker_process.h"

namespace amdahl {
namespace {

// Shared with the threads: a compiler that is still running when the user stops us may outlive build().
struct Queue {
  std::mutex mutex;
  std::condition_variable finished;
  std::vector<Variant> variants;
  std::vector<CompileResult> results;
  size_t next = 0, done = 0;
  bool cancelled = false;
};

void work(const std::shared_ptr<Queue>& queue, const std::shared_ptr<const Toolchain>& toolchain) {
  for (;;) {
    std::unique_lock lock(queue->mutex);
    if (queue->cancelled || queue->next == queue->variants.size()) return;
    const size_t mine = queue->next++;
    lock.unlock();
    CompileResult result = toolchain->compile(queue->variants[mine]);
    lock.lock();
    queue->results[mine] = std::move(result);
    ++queue->done;
    queue->finished.notify_all();
  }
}

}  // namespace

Builder::Builder(std::shared_ptr<const Toolchain> toolchain, int parallel, const std::atomic<bool>* stop)
    : toolchain_(std::move(toolchain)), parallel_(parallel), stop_(stop) {}

std::vector<Built> Builder::build(const std::vector<std::vector<Step>>& candidates) {
  auto queue = std::make_shared<Queue>();
  std::map<std::string, size_t> index;  // equal variants of several steps are compiled once
  for (const auto& steps : candidates)
    for (const Step& step : steps)
      if (index.try_emplace(step.variant.id(), queue->variants.size()).second) queue->variants.push_back(step.variant);
  queue->results.resize(queue->variants.size());

  std::vector<std::thread> threads;
  const size_t wanted = std::min(static_cast<size_t>(parallel_), queue->variants.size());
  for (size_t i = 0; i < wanted; ++i) threads.emplace_back(work, queue, toolchain_);
  bool stopped = false;
  {
    std::unique_lock lock(queue->mutex);
    const auto all_done = [&] { return queue->done == queue->variants.size(); };
    while (!all_done() && !stopped) {
      queue->finished.wait_for(lock, std::chrono::milliseconds(50));
      stopped = stop_ && stop_->load();
    }
    if (stopped) {
      queue->cancelled = true;
      queue->finished.wait_for(lock, std::chrono::milliseconds(1500), [&] { return queue->done == queue->next; });
    }
  }
  for (std::thread& t : threads) {
    if (stopped) t.detach();
    else t.join();
  }
  if (stopped) throw Stopped{};

  std::map<std::string, std::string> code_of;
  std::vector<Built> built;
  for (const auto& steps : candidates) {
    Built b;
    b.ok = true;
    std::string code;
    for (const Step& step : steps) {
      const CompileResult& r = queue->results[index.at(step.variant.id())];
      b.seconds += r.seconds;
      if (!r.ok && b.ok) {
        b.ok = false;
        b.message = r.message;
      }
      b.libraries.push_back(r.library);
      if (!r.ok) continue;
      std::string& hash = code_of[r.library];
      if (hash.empty()) hash = object_code_hash(r.library);
      code += hash + ";";
    }
    b.code = hash_hex(code);
    built.push_back(std::move(b));
  }
  return built;
}

}  // namespace amdahl

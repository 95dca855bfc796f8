#include "tuner/trials/builder.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "base/hash.h"
#include "tuner/worker/worker_process.h"

namespace amdahl {

// Shared with the threads: a compiler that is still running when the user stops us may outlive compile().
struct Builder::Queue {
  std::mutex mutex;
  std::condition_variable finished;
  std::vector<std::pair<Variant, int>> jobs;
  std::vector<CompileResult> results;
  size_t next = 0, done = 0;
  bool cancelled = false;
  std::exception_ptr broken;  // the machine, not a candidate
};

void Builder::work(const std::shared_ptr<Queue>& queue, const std::shared_ptr<const Toolchain>& toolchain) {
  for (;;) {
    std::unique_lock lock(queue->mutex);
    if (queue->cancelled || queue->next == queue->jobs.size()) return;
    const size_t mine = queue->next++;
    lock.unlock();
    const auto& [variant, placebo] = queue->jobs[mine];
    CompileResult result;
    std::exception_ptr broken;
    try {
      result = placebo ? toolchain->compile_placebo(variant, placebo) : toolchain->compile(variant);
    } catch (...) {
      broken = std::current_exception();
    }
    lock.lock();
    if (broken) {
      queue->broken = broken;
      queue->cancelled = true;
    }
    queue->results[mine] = std::move(result);
    ++queue->done;
    queue->finished.notify_all();
  }
}

Builder::Builder(std::shared_ptr<const Toolchain> toolchain, int parallel, const std::atomic<bool>* stop)
    : toolchain_(std::move(toolchain)), parallel_(parallel), stop_(stop) {}

Builder::Results Builder::compile(const std::vector<Job>& jobs) const {
  auto queue = std::make_shared<Queue>();
  std::vector<std::pair<std::string, int>> keys;
  std::set<std::pair<std::string, int>> seen;  // equal variants of several steps are compiled once
  for (const Job& job : jobs) {
    std::pair<std::string, int> key{job.variant->id(), job.placebo};
    if (!seen.insert(key).second) continue;
    keys.push_back(std::move(key));
    queue->jobs.emplace_back(*job.variant, job.placebo);
  }
  queue->results.resize(keys.size());

  std::vector<std::thread> threads;
  const size_t wanted = std::min(static_cast<size_t>(parallel_), keys.size());
  threads.reserve(wanted);
  try {
    while (threads.size() < wanted) threads.emplace_back(work, queue, toolchain_);
  } catch (const std::system_error&) {  // no room for another thread: fewer take longer
    if (threads.empty()) throw;
  }
  bool stopped = false;
  {
    std::unique_lock lock(queue->mutex);
    const auto all_done = [&] { return queue->done == keys.size(); };
    while (!all_done() && !queue->broken && !stopped) {
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
  if (queue->broken) std::rethrow_exception(queue->broken);

  Results results;
  for (size_t i = 0; i < keys.size(); ++i) results[keys[i]] = std::move(queue->results[i]);
  return results;
}

namespace {

template <class ResultOf>
BuildResult collect(const std::vector<Step>& steps, const ResultOf& result_of) {
  BuildResult b;
  b.ok = true;
  for (const Step& step : steps) {
    const CompileResult& r = result_of(step.variant);
    b.seconds += r.seconds;
    if (!r.ok && b.ok) {
      b.ok = false;
      b.message = r.message;
      b.failure_code = r.code;
    }
    b.libraries.push_back(r.library);
  }
  return b;
}

}  // namespace

std::vector<BuildResult> Builder::build(const std::vector<std::vector<Step>>& candidates) {
  std::vector<Job> jobs;
  for (const auto& steps : candidates)
    for (const Step& step : steps) jobs.push_back({&step.variant, 0});
  const Results results = compile(jobs);

  std::map<std::string, std::string> code_of;
  std::vector<BuildResult> built;
  for (const auto& steps : candidates) {
    BuildResult b = collect(steps, [&](const Variant& v) -> const CompileResult& { return results.at({v.id(), 0}); });
    std::string code;
    for (const Step& step : steps) {
      const CompileResult& r = results.at({step.variant.id(), 0});
      if (!r.ok) continue;
      std::string& hash = code_of[r.library];
      if (hash.empty()) hash = toolchain_->code_hash(r.library);
      code += hash + ";";
    }
    b.code = hash_hex(code);
    built.push_back(std::move(b));
  }
  return built;
}

std::vector<std::vector<BuildResult>> Builder::placebos(const std::vector<std::vector<Step>>& candidates, int first, int count) {
  std::vector<Job> firsts, rest;
  for (const auto& steps : candidates)
    for (const Step& step : steps)
      for (int n = first; n < first + count; ++n) (n == first ? firsts : rest).push_back({&step.variant, n});
  // The first of each kernel makes the assembly that the others start from.
  Results results = compile(firsts);
  results.merge(compile(rest));

  std::vector<std::vector<BuildResult>> built;
  for (const auto& steps : candidates) {
    built.emplace_back();
    for (int n = first; n < first + count; ++n)
      built.back().push_back(collect(steps, [&](const Variant& v) -> const CompileResult& { return results.at({v.id(), n}); }));
  }
  return built;
}

}  // namespace amdahl

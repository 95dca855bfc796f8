// libamdahl-plan.so: the functions of amdahl_plan.h (export/compiled_templates), which a compiled plan's folder carries.

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"
#include "export/compiled_templates/amdahl_plan.h.in"
#include "export/plan_library/compiled_plan.h"
#include "export/plan_library/forked_thread.h"

struct amdahl_plan {
  explicit amdahl_plan(const std::string& folder) : plan(folder) {}
  amdahl::CompiledPlan plan;
};

namespace {

// All that are loaded, for children of fork(). Never destroyed: a program may end while threads of it run.
std::set<amdahl_plan*>& loaded = *new std::set<amdahl_plan*>;
std::mutex* loaded_lock = new std::mutex;

void forget_other_threads() {
  loaded_lock = new std::mutex;
  for (amdahl_plan* p : loaded) p->plan.forget_other_threads();
}

// All that kernels compute, as they run and as they pack weights: where their teams of threads work (forked_thread.h).
template <class Work>
void compute(const Work& work) {
  if (amdahl::is_forked()) amdahl::on_own_thread(work);
  else work();
}

std::unique_ptr<amdahl_plan> loaded_from(const char* folder) {
  std::unique_ptr<amdahl_plan> plan;
  std::exception_ptr failure;  // the own thread would end with the process
  compute([&] {
    try {
      plan = std::make_unique<amdahl_plan>(folder);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
  return plan;
}

}  // namespace

#define AMDAHL_API extern "C" __attribute__((visibility("default")))

AMDAHL_API amdahl_plan* amdahl_plan_load(const char* folder, int* code, char* error, size_t error_bytes) try {
  amdahl::watch_forks(forget_other_threads);
  std::unique_ptr<amdahl_plan> plan = loaded_from(folder);
  const std::lock_guard lock(*loaded_lock);
  loaded.insert(plan.get());
  return plan.release();
} catch (const std::exception& why) {
  const auto* known = dynamic_cast<const amdahl::Error*>(&why);
  if (code) *code = static_cast<int>(known ? known->code() : amdahl::ExitCode::kInternal);
  if (error && error_bytes > 0) std::snprintf(error, error_bytes, "%s", why.what());
  return nullptr;
}

AMDAHL_API int amdahl_plan_run(amdahl_plan* plan, const void* const* inputs, void* const* outputs) {
  auto run = amdahl::CompiledPlan::Run::kComputed;
  compute([&] { run = plan->plan.run(inputs, outputs); });
  return static_cast<int>(run);
}
static_assert(static_cast<int>(amdahl::CompiledPlan::Run::kBadIndex) == AMDAHL_PLAN_BAD_INDEX);
static_assert(static_cast<int>(amdahl::CompiledPlan::Run::kChanged) == AMDAHL_PLAN_CHANGED);

AMDAHL_API void amdahl_plan_watch(amdahl_plan* plan, const uint32_t* const* words, size_t count) { plan->plan.watch({words, count}); }

AMDAHL_API void amdahl_plan_free(amdahl_plan* plan) {
  if (!plan) return;
  {
    const std::lock_guard lock(*loaded_lock);
    loaded.erase(plan);
  }
  delete plan;
}

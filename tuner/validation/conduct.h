#pragma once
// Whether a worker behaves: what it says of itself and what the operating system says of it, held against what it was when nothing
// but honest code had run in it.

#include <optional>
#include <string>

#include "tuner/worker/worker_process.h"

namespace amdahl {

struct Misconduct {
  std::string code;  // "left-threads", "wrote-beside"; docs/trust.md lists them
  std::string reason;
};

// `honest`: of the same worker before, or of one that ran an honest kernel for the same trials.
std::optional<Misconduct> misconduct(const Report& report, const ProcessState& now, const ProcessState& honest);

// Whether `calls` calls, after which `grown` more bytes of private memory are resident, lost memory. What is allocated once is some pages; from
// a hundred calls on the allowance of 128 KiB hides nothing that a user would notice: a kilobyte a call shows after 140.
std::optional<Misconduct> lost_memory(int64_t grown, int64_t calls);

// Codes that say how a kernel behaves, not what it computes.
bool is_misconduct(const std::string& code);

}  // namespace amdahl

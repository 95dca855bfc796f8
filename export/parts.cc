#include "export/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {
namespace {

// mobilenet-v2 (4 ms) takes 3% less in ONNX Runtime as one node than as 28 or as 7: what takes no longer is not cut. Of a longer model the
// runtime's viewers show parts, and a node's cost, some microseconds, is nothing beside 10 ms.
constexpr double kPartSeconds = 10e-3;

// At what a core or two reach: only the order of magnitude matters.
double seconds_of(const Step& step) {
  constexpr double kFlopsPerSecond = 150e9, kBytesPerSecond = 15e9;
  const Work work = kernel_kind(step.variant.problem.kind).work(step.variant.problem);
  return std::max(work.flops / kFlopsPerSecond, work.bytes / kBytesPerSecond);
}

bool contains(const std::vector<int>& buffers, int buffer) { return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end(); }

void add(std::vector<int>* buffers, int buffer) {
  if (!contains(*buffers, buffer)) buffers->push_back(buffer);
}

// Buffers that calls from `end` on read, and the model's outputs.
std::set<int> needed_from(const Program& program, size_t end) {
  std::set<int> needed(program.outputs.begin(), program.outputs.end());
  for (size_t c = end; c < program.calls.size(); ++c) needed.insert(program.calls[c].inputs.begin(), program.calls[c].inputs.end());
  return needed;
}

Part part_of(const Program& program, size_t first, size_t end) {
  Part part{first, end, {}, {}};
  std::vector<int> written;
  for (size_t c = first; c < end; ++c) {
    for (int b : program.calls[c].inputs)
      if (!contains(written, b)) add(&part.inputs, b);
    for (int b : program.calls[c].outputs) add(&written, b);
  }
  const std::set<int> needed = needed_from(program, end);
  for (int b : written)
    if (needed.count(b)) part.outputs.push_back(b);
  return part;
}

}  // namespace

std::vector<Part> parts_of(const Program& program, const Plan& plan) {
  std::vector<Part> parts;
  double seconds = 0;
  for (size_t first = 0, c = 0; c < program.calls.size(); ++c) {
    seconds += seconds_of(plan.steps[static_cast<size_t>(program.calls[c].step)]);
    if (seconds < kPartSeconds && c + 1 < program.calls.size()) continue;
    parts.push_back(part_of(program, first, c + 1));
    first = c + 1;
    seconds = 0;
  }
  return parts;
}

std::string name_of_part(const Part& part, size_t number, const Program& program, const std::vector<CxxKernel>& kernels) {
  const auto kernel = [&](size_t call) { return kernels[static_cast<size_t>(program.calls[call].kernel)].name(); };
  const std::string last = part.end - part.first > 1 ? "_to_" + kernel(part.end - 1) : "";
  return fmt::format("part{:03}_{}{}", number, kernel(part.first), last);
}

}  // namespace amdahl

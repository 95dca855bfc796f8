#include "tuner/validation/remote_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/counted.h"
#include "base/hash.h"
#include "base/printable.h"
#include "tuner/worker/early_digest.h"

namespace amdahl {
namespace {
constexpr double kLoadSeconds = 30;
}

RemoteProgram::RemoteProgram(const WorkerOptions& options, const Program& program, InputSource& input_source, const ConstantsFile& constants)
    : program_(program), input_source_(input_source), constants_(constants), worker_(options, input_source.arena(), constants.read_only()) {
  worker_.load(program.libraries, kLoadSeconds);
}

void RemoteProgram::bind(Layout layout, int slots, int copies, const Draw& weights, double seconds, bool twin) {
  operands_ = input_source_.operand_regions(program_, layout, slots, copies);
  input_source_.draw_weights(program_, operands_, weights);
  worker_.bind(program_, layout, operands_.inputs, operands_.weights, seconds, twin);
}

void RemoteProgram::change_weights(const Draw& weights, double seconds) {
  input_source_.draw_weights(program_, operands_, weights);
  worker_.repack(seconds);
}

// What lies beside them stays what the worker has made of it: it is fetched before all is published.
void RemoteProgram::poison_outputs(size_t slot, uint64_t seed) {
  for (size_t o = 0; o < program_.outputs.size(); ++o) {
    const Region& region = worker_.outputs(slot)[o];
    const Program::Buffer& b = program_.buffers[static_cast<size_t>(program_.outputs[o])];
    if (region.at >= 0) poison(region.data, b.dtype, static_cast<int64_t>(b.bytes / size_of(b.dtype)), seed + o);
  }
  worker_.publish_outputs(slot);
}

std::string RemoteProgram::trial(const Trial& trial, double seconds) {
  const std::vector<uint64_t> at_return = worker_.trial(trial, seconds);
  for (size_t o = 0; o < at_return.size(); ++o) {
    const Region& region = worker_.outputs(static_cast<size_t>(trial.slot))[o];
    if (region.at < 0 || early_digest({region.data, region.bytes}, trial.seed) == at_return[o]) continue;
    return fmt::format("'{}' was written to after the call had returned", program_.buffers[static_cast<size_t>(program_.outputs[o])].name);
  }
  return "";
}

std::string RemoteProgram::unwritten(size_t slot, uint64_t seed) {
  for (size_t o = 0; o < program_.outputs.size(); ++o) {
    const Region& region = worker_.outputs(slot)[o];
    const Program::Buffer& b = program_.buffers[static_cast<size_t>(program_.outputs[o])];
    if (region.at < 0) continue;
    if (const int64_t n = count_poisoned(region.data, b.dtype, static_cast<int64_t>(b.bytes / size_of(b.dtype)), seed + o))
      return fmt::format("{} of '{}' {} not written", counted(n, "element"), shown(b.name), n == 1 ? "was" : "were");
  }
  return "";
}

bool RemoteProgram::slack_intact(size_t slot) {
  const std::vector<Region>& outputs = worker_.outputs(slot);
  return std::all_of(outputs.begin(), outputs.end(), [](const Region& r) { return r.at < 0 || amdahl::slack_intact(r.data, r.bytes, kOutputSlack); });
}

// visit(data, bytes) for every output in order.
template <typename Visit>
void RemoteProgram::visit_outputs(size_t slot, Visit visit) {
  for (size_t o = 0; o < program_.outputs.size(); ++o) {
    const int number = program_.outputs[o];
    const Program::Buffer& b = program_.buffers[static_cast<size_t>(number)];
    if (b.blob_offset >= 0) {
      const std::vector<std::byte> constant = constants_.read(b.blob_offset, b.bytes);
      visit(constant.data(), b.bytes);
      continue;
    }
    visit(region_of(number, slot).data, b.bytes);
  }
}

// An output may be an input that is handed on, or a weight.
const Region& RemoteProgram::region_of(int number, size_t slot) {
  const auto in = std::find(program_.inputs.begin(), program_.inputs.end(), number);
  if (in != program_.inputs.end()) return operands_.inputs[slot][static_cast<size_t>(in - program_.inputs.begin())];
  if (program_.buffers[static_cast<size_t>(number)].role != Program::Role::kConstant) {
    const auto out = std::find(program_.outputs.begin(), program_.outputs.end(), number);
    return worker_.outputs(slot)[static_cast<size_t>(out - program_.outputs.begin())];
  }
  size_t weight = 0;
  for (int n = 0; n < number; ++n) {
    const Program::Buffer& b = program_.buffers[static_cast<size_t>(n)];
    weight += b.role == Program::Role::kConstant && b.blob_offset < 0;
  }
  return operands_.weights[slot % operands_.weights.size()][weight];
}

std::vector<std::byte> RemoteProgram::outputs(size_t slot) {
  std::vector<std::byte> bytes;
  visit_outputs(slot, [&](const std::byte* data, size_t n) { bytes.insert(bytes.end(), data, data + n); });
  return bytes;
}

std::string RemoteProgram::outputs_hash(size_t slot) {
  std::string hashes;
  visit_outputs(slot, [&](const std::byte* data, size_t n) { hashes += hash_hex(data, n); });
  return hashes;
}

bool RemoteProgram::outputs_equal(size_t slot, const std::vector<std::byte>& bytes) {
  size_t at = 0;
  bool equal = true;
  visit_outputs(slot, [&](const std::byte* data, size_t n) {
    equal = equal && std::memcmp(data, bytes.data() + at, n) == 0;
    at += n;
  });
  return equal;
}

int copies_for(const Program& program, size_t run_bytes) {
  const size_t budget = std::min(run_bytes, size_t{96} << 20);
  size_t weights = 1;
  for (const Program::Buffer& b : program.buffers)
    if (b.role == Program::Role::kConstant && b.blob_offset < 0) weights += b.bytes;
  if (weights < (size_t{64} << 10)) return 1;
  return static_cast<int>(std::clamp(budget / weights, weights > budget / 3 ? size_t{1} : size_t{3}, size_t{12}));
}

}  // namespace amdahl

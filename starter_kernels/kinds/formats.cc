#include "starter_kernels/kinds/formats.h"

#include <algorithm>

#include "base/error.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

std::string format_at(const Problem& problem, const char* side, size_t i) {
  if (!has_formats(problem)) return "";
  const Json& formats = problem.params["formats"].at(side);
  return i < formats.size() ? formats[i].get<std::string>() : "";
}

}  // namespace

bool has_formats(const Problem& problem) { return problem.params.contains("formats"); }
std::string format_of_input(const Problem& problem, size_t i) { return format_at(problem, "in", i); }
std::string format_of_output(const Problem& problem, size_t i) { return format_at(problem, "out", i); }

bool in_channel_blocks(const Problem& problem) {
  const auto some = [&](size_t operands, std::string (*format_of)(const Problem&, size_t)) {
    for (size_t i = 0; i < operands; ++i)
      if (!format_of(problem, i).empty()) return true;
    return false;
  };
  return some(problem.in.size(), format_of_input) || some(problem.out.size(), format_of_output);
}

void set_formats(Problem& problem, const std::vector<std::string>& in, const std::vector<std::string>& out) {
  problem.params["formats"] = {{"in", in}, {"out", out}};
}

int64_t channel_block(const std::string& format) {
  if (format.empty()) return 0;
  if (format.rfind("nchw", 0) != 0 || format.back() != 'c') throw Error(ExitCode::kInternal, "unknown storage format " + format);
  return std::stoll(format.substr(4));
}

bool fold_spatial(const Access& access, Access* folded) {
  int64_t stride = 0, size = 1;
  for (size_t i = access.shape.size(); i-- > 2;) {
    if (access.shape[i] == 1) continue;
    if (size == 1) stride = access.strides[i];
    else if (access.strides[i] != stride * size) return false;
    size *= access.shape[i];
  }
  *folded = access;
  folded->shape = {access.shape[0], access.shape[1], size};
  folded->strides = {access.strides[0], access.strides[1], stride};
  return true;
}

Access as_blocks(const Access& access, const std::string& format, int64_t block) {
  Access flat;
  if (!fold_spatial(access, &flat)) throw Error(ExitCode::kInternal, "an operand of a blocked kernel has scattered pixels");
  const int64_t blocks = (flat.shape[1] + block - 1) / block, pixels = flat.shape[2];
  Access a = access;
  a.shape = {flat.shape[0], blocks, pixels, block};
  if (format.empty()) {
    a.strides = {flat.strides[0], flat.strides[1] * block, flat.strides[2], flat.strides[1]};
  } else {
    // Stored with its own pixels: all of them, or one that is broadcast.
    const int64_t stored = flat.strides[2] == 0 ? 1 : pixels;
    a.strides = {flat.strides[0] == 0 ? 0 : blocks * stored * block, stored * block, stored == 1 ? 0 : block, 1};
  }
  return a;
}

Problem stored_in_blocks(const Problem& problem) {
  int64_t block = 0;
  for (size_t i = 0; i < problem.out.size(); ++i) block = std::max(block, channel_block(format_of_output(problem, i)));
  if (block == 0) return problem;
  Problem stored = problem;
  stored.params.erase("formats");
  for (size_t i = 0; i < problem.in.size(); ++i) stored.in[i] = as_blocks(problem.in[i], format_of_input(problem, i), block);
  for (size_t i = 0; i < problem.out.size(); ++i) stored.out[i] = as_blocks(problem.out[i], format_of_output(problem, i), block);
  return stored;
}

}  // namespace amdahl

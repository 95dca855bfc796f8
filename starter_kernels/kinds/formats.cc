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

// Of inputs, then of outputs.
std::vector<std::string> formats_of(const Problem& problem) {
  std::vector<std::string> formats;
  for (size_t i = 0; i < problem.in.size(); ++i) formats.push_back(format_at(problem, "in", i));
  for (size_t i = 0; i < problem.out.size(); ++i) formats.push_back(format_at(problem, "out", i));
  return formats;
}

}  // namespace

bool has_formats(const Problem& problem) { return problem.params.contains("formats"); }
std::string format_of_input(const Problem& problem, size_t i) { return format_at(problem, "in", i); }
std::string format_of_output(const Problem& problem, size_t i) { return format_at(problem, "out", i); }

bool in_channel_blocks(const Problem& problem) {
  const std::vector<std::string> formats = formats_of(problem);
  return std::any_of(formats.begin(), formats.end(), [](const std::string& f) { return !f.empty() && f != kChannelsLast; });
}

bool channels_last(const Problem& problem) {
  const std::vector<std::string> formats = formats_of(problem);
  return std::count(formats.begin(), formats.end(), kChannelsLast) > 0 && !in_channel_blocks(problem);
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

Access as_channels_last(const Access& access, const std::string& format) {
  Access flat;
  if (!fold_spatial(access, &flat)) throw Error(ExitCode::kInternal, "an operand of a kernel of channels last has scattered pixels");
  const int64_t channels = flat.shape[1], pixels = flat.shape[2];
  Access a = access;
  a.shape = {flat.shape[0], pixels, channels};
  if (format.empty()) {
    a.strides = {flat.strides[0], flat.strides[2], flat.strides[1]};
  } else {
    // Stored with its own pixels: all of them, or one that is broadcast.
    const int64_t stored = flat.strides[2] == 0 ? 1 : pixels;
    a.strides = {flat.strides[0] == 0 ? 0 : stored * channels, stored == 1 ? 0 : channels, 1};
  }
  return a;
}

Problem stored_channels_last(const Problem& problem, size_t first_input) {
  Problem stored = problem;
  stored.params.erase("formats");
  for (size_t i = first_input; i < problem.in.size(); ++i) stored.in[i] = as_channels_last(problem.in[i], format_of_input(problem, i));
  for (size_t i = 0; i < problem.out.size(); ++i) stored.out[i] = as_channels_last(problem.out[i], format_of_output(problem, i));
  return stored;
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

#include "starter_kernels/cuda/channels_last.h"

#include <algorithm>
#include <numeric>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/kinds/formats.h"

namespace amdahl {

std::string refused_formats(const Problem& problem, size_t first_input) {
  if (in_channel_blocks(problem)) return "a card has no form for channel blocks";
  if (!channels_last(problem)) return "";
  const auto walked = [](const Access& a) {
    Access folded;
    return a.shape.size() > 2 && fold_spatial(a, &folded);
  };
  const auto first = problem.in.begin() + static_cast<ptrdiff_t>(std::min(first_input, problem.in.size()));
  const bool all = std::all_of(first, problem.in.end(), walked) && std::all_of(problem.out.begin(), problem.out.end(), walked);
  return all ? "" : "an operand's pixels lie at no single stride: channels last are not read so";
}

int64_t adjacent_channels(int64_t channels, size_t bytes_of_widest) { return std::gcd(channels, 16 / static_cast<int64_t>(bytes_of_widest)); }

int64_t starter_threads(int64_t all, int64_t units) {
  int64_t threads = 256;
  while (threads > 32 && ceil_div(all, threads) < units) threads /= 2;
  return threads;
}

std::string index_type(std::initializer_list<const Access*> operands) {
  constexpr int64_t kMostOfInt = int64_t{1} << 30;
  return std::all_of(operands.begin(), operands.end(), [](const Access* a) { return numel(a->shape) < kMostOfInt; }) ? "int" : "int64_t";
}

}  // namespace amdahl

#include "starter_kernels/cpu/window_constants.h"

#include <fmt/format.h>

#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {

std::string window_constants(const SlidingWindow& g) {
  std::string text = fmt::format("constexpr int64_t N = {}, C = {}, O = {}, G = {};\n", g.n, g.channels, g.out_channels, g.groups);
  const auto row = [&](const char* prefix, const SlidingWindow::Sizes& s) {
    text += fmt::format("constexpr int64_t {0}D = {1}, {0}H = {2}, {0}W = {3};\n", prefix, s[0], s[1], s[2]);
  };
  row("I", g.in);
  row("K", g.kernel);
  row("O", g.out);
  row("S", g.stride);
  row("D", g.dilation);
  row("PAD_", g.pad);
  row("PAD_END_", g.pad_end);
  return text;
}

}  // namespace amdahl

#include "starter_kernels/text/window_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "starter_kernels/kinds/formats.h"

namespace amdahl {
namespace {

constexpr size_t kExtra = 2;  // in[0] is x, in[1] is w

std::optional<Problem> with_flat_pixels(const Problem& problem) {
  Problem folded = problem;
  for (std::vector<Access>* side : {&folded.in, &folded.out})
    for (size_t i = side == &folded.in ? kExtra : 0; i < side->size(); ++i) {
      const Access access = (*side)[i];
      if (!fold_spatial(access, &(*side)[i])) return std::nullopt;
    }
  return folded;
}

}  // namespace

std::string window_text(const SlidingWindow& g, std::string_view opening, std::string_view closing) {
  std::string text = fmt::format("{}N = {}, C = {}, O = {}, G = {}{}\n", opening, g.n, g.channels, g.out_channels, g.groups, closing);
  const auto row = [&](const char* prefix, const SlidingWindow::Sizes& s) {
    text += fmt::format("{0}{1}D = {2}, {1}H = {3}, {1}W = {4}{5}\n", opening, prefix, s[0], s[1], s[2], closing);
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

PixelEpilogue epilogue_of_pixels(const Problem& problem, const SlidingWindow& g) {
  if (std::optional<Problem> folded = with_flat_pixels(problem)) return {std::move(*folded), "n, o, p"};
  const auto names = spatial_names({"p / (OH * OW)", "p / OW % OH", "p % OW"}, g.spatial_rank);
  return {problem, fmt::format("n, o, {}", fmt::join(names, ", "))};
}

std::vector<std::string> spatial_names(const std::vector<std::string>& three, int rank) { return {three.end() - rank, three.end()}; }

}  // namespace amdahl

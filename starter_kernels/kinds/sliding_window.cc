#include "starter_kernels/kinds/sliding_window.h"

#include <algorithm>

#include "graph/graph.h"
#include "graph/ops/window_geometry.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

// The last `values.size()` of three.
SlidingWindow::Sizes in_three(const std::vector<int64_t>& values, int64_t missing) {
  SlidingWindow::Sizes sizes{missing, missing, missing};
  std::copy(values.begin(), values.end(), sizes.end() - static_cast<ptrdiff_t>(values.size()));
  return sizes;
}

std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

}  // namespace

SlidingWindow SlidingWindow::of(const Problem& problem) {
  SlidingWindow g;
  const Shape &x = problem.in[0].shape, &out = problem.out[0].shape;
  const ConvParams params = ConvParams::of(problem);  // of a pooling: its window, and one group
  const WindowParams& window = params.window;
  g.spatial_rank = static_cast<int>(x.size()) - 2;
  g.n = x[0];
  g.channels = x[1];
  g.out_channels = out[1];
  g.groups = params.group;
  g.in = in_three(spatial(x), 1);
  g.out = in_three(spatial(out), 1);
  g.kernel = in_three(window.kernel, 1);
  g.stride = in_three(window.strides, 1);
  g.dilation = in_three(window.dilations, 1);
  const std::vector<int64_t>& pads = window.pads;
  const auto half = pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2);
  g.pad = in_three({pads.begin(), half}, 0);
  g.pad_end = in_three({half, pads.end()}, 0);
  return g;
}

bool SlidingWindow::empty() const {
  const auto zero = [](const Sizes& s) { return std::find(s.begin(), s.end(), 0) != s.end(); };
  return n == 0 || channels == 0 || out_channels == 0 || zero(in) || zero(out) || zero(kernel);
}

bool SlidingWindow::is_pointwise() const { return taps() == 1 && in == out && stride == Sizes{1, 1, 1} && pad == Sizes{0, 0, 0}; }

bool SlidingWindow::is_3x3_stride1() const { return spatial_rank == 2 && kernel == Sizes{1, 3, 3} && stride == Sizes{1, 1, 1} && dilation == Sizes{1, 1, 1}; }

WindowParams WindowParams::of(const Problem& problem) {
  const auto sizes = [&](const char* key) { return problem.params.at(key).get<std::vector<int64_t>>(); };
  return {sizes("kernel"), sizes("strides"), sizes("dilations"), sizes("pads")};
}

void WindowParams::write(Problem& problem) const {
  Json& params = problem.params;
  params["kernel"] = kernel;
  params["strides"] = strides;
  params["dilations"] = dilations;
  params["pads"] = pads;
}

WindowParams window_params(const Graph& graph, const Node& node, const std::vector<int64_t>& kernel, bool transposed) {
  const Shape& x = graph.value(node.inputs[0]).shape;
  const WindowGeometry g = transposed ? transposed_geometry(node, x, kernel) : window_geometry(node, x, kernel);
  const auto of_graph = [&](const SlidingWindow::Sizes& three) { return std::vector<int64_t>(three.end() - g.rank, three.end()); };
  std::vector<int64_t> pads = of_graph(g.pad_begin);
  const std::vector<int64_t> ends = of_graph(g.pad_end);
  pads.insert(pads.end(), ends.begin(), ends.end());
  return {of_graph(g.kernel), of_graph(g.stride), of_graph(g.dilation), pads};
}

}  // namespace amdahl

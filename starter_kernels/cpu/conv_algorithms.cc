#include "starter_kernels/cpu/conv_algorithms.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/byte_products.h"
#include "starter_kernels/cpu/gemm_prelude.h"
#include "starter_kernels/cpu/matmul_strassen.h"
#include "starter_kernels/cpu/tile_cycles.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {
namespace {

constexpr const char* kAlgorithmMeaning =
    "0 generic, 1 im2col, 2 direct, 3 depthwise, 4 Winograd, 5 channel-blocked, 6 channel-blocked depthwise, 7 Strassen, 8 bytes, 9 bytes depthwise, "
    "10 transposed";

bool is_dense_f32(const Problem& problem) {
  const auto good = [](const Access& a) { return a.dtype == DType::kF32 && a.is_dense(); };
  return good(problem.in[0]) && good(problem.in[1]) && good(problem.out[0]);
}

constexpr int64_t kMostExactTaps = 514;  // kernels/conv_bytes_depthwise.cpp

bool is_of_bytes(const Problem& problem, const SlidingWindow& g) {
  return multiplies_bytes(problem) && problem.in[1].constant && problem.in[0].is_dense() && problem.in[1].is_dense() && problem.out[0].is_dense() && !g.empty();
}

// A weight comes from memory once a run, at 12 GB/s a core: meanwhile 75 products a nanosecond could be done.
constexpr int64_t kProductsAWeight = 25;

std::vector<int64_t> sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// The largest of `values` that `fits`, else the first.
template <typename Fits>
int64_t largest(const std::vector<int64_t>& values, Fits fits) {
  int64_t best = values.front();
  for (int64_t v : values)
    if (fits(v)) best = v;
  return best;
}

// How much longer the thread with most of `units` works than if they could be cut.
double unevenness(int64_t units, int threads) {
  const int64_t most = (units + threads - 1) / threads;
  return static_cast<double>(most * threads) / static_cast<double>(std::max<int64_t>(units, 1));
}

bool tile_fits(int64_t px, int64_t ocv, int64_t registers) { return px * ocv + ocv + (ocv > 1) <= registers; }

// The knobs of Winograd's form, left out of `space` where it has one of that name already (shared with another form).
// F(4x4, 3x3) rounds more than a direct sum and is only there for a problem that declares it.
void add_winograd_knobs(SearchSpace& space, const Problem& problem, const SlidingWindow& g, int64_t registers) {
  const bool f43 = declared_algorithm(problem) == "winograd_f43";
  const int64_t tiles = (g.out[1] + 1) / 2 * ((g.out[2] + 1) / 2);
  std::vector<Knob> knobs{
      {"WINO_M", f43 ? std::vector<int64_t>{2, 4} : std::vector<int64_t>{2}, f43 ? 4 : 2, "Winograd: outputs of a tile along each side"},
      {"TB", {7, 14, 28, 56}, tiles > 56 ? 28 : 14, "Winograd: tiles that pass through all three stages together"},
      {"PX", {1, 2, 4, 6, 7, 8, 12, 13, 14, 16, 24, 28}, registers == 32 ? 14 : 12, "pixels (or tiles) broadcast against OCV blocks"},
      {"OCV", {1, 2, 3, 4}, registers == 32 ? 2 : 1, "blocks of output channels a tile"},
      {"UNROLL", {1, 2, 4, 8, 16}, 2, "input channels unrolled"},
  };
  for (Knob& knob : knobs)
    if (!space.find(knob.name)) space.knobs.push_back(std::move(knob));
}

// Cycles a core of Winograd's form on channel blocks: the products of the thread that has most of them, or their weights' way to it, whichever is longer.
// Threads that share products (PARTITION 1) read each weight once but half of V and M from the other core; those that share tiles each read all
// weights, again for every chunk. Says nothing of the transforms, which are nearly the same for all.
double winograd_cycles(const SlidingWindow& g, int64_t block, const Knobs& k, int threads, int64_t l2_bytes) {
  constexpr double kWeightFromMemory = kProductsAWeight / 2.0, kLineFromL3 = 3, kLineFromL2 = 1, kLineFromAnotherCore = 10;
  const int64_t m = k.at("WINO_M"), xi = (m + 2) * (m + 2), tiles = ((g.out[1] + m - 1) / m) * ((g.out[2] + m - 1) / m);
  const int64_t in = (g.channels + block - 1) / block, out = (g.out_channels + block - 1) / block;
  const auto matrices = static_cast<double>(xi * in * block), weights = matrices * static_cast<double>(out);  // vectors
  const auto lines = [&](int64_t rows) { return static_cast<double>(xi * rows * (in + out)); };               // of V and M
  const bool in_l2 = weights * static_cast<double>(4 * block) <= static_cast<double>(l2_bytes) / 2;
  if (k.at("PARTITION") == 1) {
    const double uneven = unevenness(xi * ((out + k.at("OCV") - 1) / k.at("OCV")), threads);
    const double products = matrices * tile_cycles(tiles, out, std::min(k.at("PX"), tiles), std::min(k.at("OCV"), out)) * uneven;
    return std::max(products, weights * kWeightFromMemory) / threads + lines(tiles) / 2 * kLineFromAnotherCore / threads;
  }
  const int64_t wanted = std::min(k.at("TB"), tiles), px = std::min(k.at("PX"), wanted), chunk = (wanted + px - 1) / px * px;
  const int64_t chunks = (tiles + chunk - 1) / chunk, passes = (chunks + threads - 1) / threads;
  const double products = static_cast<double>(passes) * matrices * tile_cycles(std::min(chunk, tiles), out, px, std::min(k.at("OCV"), out));
  const double again = weights * static_cast<double>(passes - 1) * (in_l2 ? kLineFromL2 : kLineFromL3);
  const bool spills = lines(chunk) * static_cast<double>(4 * block) > static_cast<double>(l2_bytes) * 3 / 4;
  return std::max(products, weights * kWeightFromMemory + again) + (spills ? 2 * lines(chunk) * static_cast<double>(passes) * kLineFromL3 : 0);
}

SearchSpace im2col_space(const Problem& problem, const SlidingWindow& g, const DeviceInfo& device) {
  const VectorUnit unit = vector_unit(device);
  const bool wide = unit.registers == 32;
  const int64_t vlen = unit.widths.back(), mr = wide ? 8 : 6, nv = wide ? 3 : 2;
  const std::vector<int64_t> algorithms = conv_algorithms(problem, device);
  const bool transposed = algorithms.front() == kConvTransposed;
  const int64_t products = transposed ? g.stride[0] * g.stride[1] * g.stride[2] : 1;
  const int64_t pixel_vectors = g.groups * ((g.out_pixels() / products + vlen - 1) / vlen);
  const std::vector<int64_t> kcs{64, 128, 192, 256, 384, 512, 1024}, panels{1, 2, 4, 8, 16};
  const int64_t og = g.out_channels / g.groups;
  SearchSpace space;
  space.knobs = {
      {"ALGORITHM", sorted(algorithms), algorithms.front(), kAlgorithmMeaning},
      {"VLEN", unit.widths, vlen, "floats a vector"},
      {"MR", wide ? std::vector<int64_t>{4, 6, 8, 12, 14} : std::vector<int64_t>{2, 4, 6}, mr, "output channels a tile"},
      {"NV", wide ? std::vector<int64_t>{1, 2, 3, 4} : std::vector<int64_t>{1, 2}, nv, "pixel vectors a tile"},
      {"KC", kcs, largest(kcs, [&](int64_t kc) { return kc * nv * vlen * 4 <= device.l1d_bytes * 3 / 4; }), "rows of the im2col matrix in a packed panel"},
      {"PANELS", panels, largest(panels, [&](int64_t p) { return p * nv * vlen * og * 4 <= device.l2_bytes / 2; }),
       "pixel panels that share one pass over KC columns of w"},
      {"PARTITION", {0, 1}, pixel_vectors < 8 * problem.threads, "threads share 0: pixels, 1: output channels"},
      {"PREFETCH", {0, 8, 16, 32}, 0, "steps of k by which packed weights are prefetched"},
  };
  if (problem.in[1].constant && !transposed) space.knobs.push_back({"PACK_W", {0, 1}, 1, "weights in tile order, packed at load"});
  if (std::count(algorithms.begin(), algorithms.end(), kConvWinograd)) add_winograd_knobs(space, problem, g, unit.registers);
  space.refuse = [registers = unit.registers](const Knobs& k) -> std::string {
    if (k.at("ALGORITHM") == kConvWinograd) return tile_fits(k.at("PX"), k.at("OCV"), registers) ? "" : "PX x OCV accumulators do not fit the registers";
    const int64_t need = k.at("MR") * k.at("NV") + k.at("NV") + 1;
    if (need > registers) return fmt::format("a {}x{} tile needs {} vector registers of {}", k.at("MR"), k.at("NV"), need, registers);
    return "";
  };
  return space;
}

// 8 x 3 sums of 32 registers, of 16 6 x 2, which leave two for what is added in 16 bits. All panels of a narrow image together: its rows are finished in one.
SearchSpace bytes_space(const Problem& problem, const SlidingWindow& g, const DeviceInfo& device) {
  const VectorUnit unit = vector_unit(device);
  const int64_t lanes = unit.widths.back(), o = g.out_channels / g.groups;
  const auto vectors = (g.out[1] * (g.out[2] + g.kernel[2] / std::max<int64_t>(1, g.stride[2])) + lanes - 1) / lanes;
  const std::vector<int64_t> mrs = up_to({1, 2, 4, 6, 8, 10, 12}, o), nvs = up_to({1, 2, 3, 4}, vectors), panels{1, 2, 4, 8, 16};
  const bool wide = unit.registers == 32;
  const int64_t nv = largest(nvs, [&](int64_t n) { return n <= (wide ? 3 : 2); }), mr = largest(mrs, [&](int64_t m) { return m <= (wide ? 8 : 6); });
  // Weights that pass by few pixels are read by one thread each.
  const bool by_channels = vectors <= 4 * nv * problem.threads;
  SearchSpace space;
  space.knobs = {{"ALGORITHM", {kConvBytes}, kConvBytes, kAlgorithmMeaning},
                 {"VLEN", {lanes}, lanes, "pixels a vector"},
                 {"MR", mrs, mr, "output channels summed together"},
                 {"NV", nvs, nv, "vectors of pixels summed together"},
                 {"PANELS", panels, largest(panels, [&](int64_t n) { return n * nv <= 12; }), "panels of so many vectors that are finished together"},
                 {"PARTITION", {0, 1}, by_channels, "threads share 0: pixels, 1: output channels"},
                 {"K_STEPS", byte_steps(device), byte_steps(device).front(), "channels in one addition: 4 bytes, or 2 in 16 bits"}};
  space.refuse = [registers = unit.registers](const Knobs& k) -> std::string {
    const int64_t need = k.at("MR") * k.at("NV") + k.at("NV") + 1 + (k.at("K_STEPS") == 2);
    return need <= registers ? "" : fmt::format("a {}x{} tile needs {} vector registers of {}", k.at("MR"), k.at("NV"), need, registers);
  };
  return space;
}

SearchSpace depthwise_bytes_space(const SlidingWindow& g, const DeviceInfo& device) {
  const int64_t lanes = vector_unit(device).widths.back(), vectors = (g.out[1] * (g.out[2] + g.kernel[2] - 1) + lanes - 1) / lanes;
  const std::vector<int64_t> nvs = up_to({1, 2, 4, 8}, vectors);
  return {{{"ALGORITHM", {kConvBytesDepthwise}, kConvBytesDepthwise, kAlgorithmMeaning},
           {"VLEN", {lanes}, lanes, "pixels a vector"},
           {"NV", nvs, largest(nvs, [](int64_t n) { return n <= 4; }), "vectors of pixels summed together"}},
          [](const Knobs&) { return std::string(); }};
}

SearchSpace depthwise_space(const Problem& problem, const SlidingWindow& g, const DeviceInfo& device) {
  const VectorUnit unit = vector_unit(device);
  const int64_t vlen = unit.widths.back();
  // Lanes that do no work in the last vector of a row make the flat form worth its extra pass.
  const bool ragged = g.out[2] % vlen != 0 && g.out[2] < 4 * vlen;
  SearchSpace space;
  space.knobs = {
      {"ALGORITHM", conv_algorithms(problem, device), kConvDepthwise, kAlgorithmMeaning},
      {"VLEN", unit.widths, vlen, "floats a vector"},
      {"NV", {1, 2, 4}, ragged ? 4 : 1, "vectors of a row summed together"},
      {"TR", {1, 2, 3, 4}, ragged ? 1 : 4, "output rows that share the input rows they load"},
      {"FLAT", {0, 1}, ragged, "1: all output rows as one row of the padded width"},
  };
  space.refuse = [registers = unit.registers](const Knobs& k) -> std::string {
    if (k.at("FLAT") && k.at("TR") > 1) return "FLAT has one row: TR must be 1";
    const int64_t need = k.at("TR") * k.at("NV") + k.at("NV") + 1;
    if (need > registers) return fmt::format("{} accumulators need {} vector registers of {}", k.at("TR") * k.at("NV"), need, registers);
    return "";
  };
  return space;
}

SearchSpace blocked_space(const Problem& problem, const SlidingWindow& g, const DeviceInfo& device) {
  const int64_t registers = vector_unit(device).registers;
  const int64_t block = channel_block(format_of_output(problem, 0));
  const int64_t blocks = (g.out_channels / g.groups + block - 1) / block, channels = g.channels / g.groups, in_blocks = (channels + block - 1) / block;
  const bool from_blocks = !format_of_input(problem, 0).empty();
  const int64_t weight_bytes = 4 * channels * g.taps() * g.out_channels;
  // Pixels of blocks begin side by side, and threads share them: resnet50's tuned plan, the whole model in turns on Zen 3, with its 1x1 convolutions of
  // small weights shared by channels and read where they lie 1, by pixels 1.12 [1.10, 1.15], and side by side 1.17 [1.15, 1.18].
  const bool weights_inner = !from_blocks && weight_bytes <= device.l2_bytes / 2;
  const auto columns_of = [g](bool one_row) { return one_row || g.is_pointwise() ? g.out_pixels() : g.out[2]; };
  const int64_t columns = columns_of(from_blocks);
  const std::vector<int64_t> pxs{1, 2, 4, 6, 7, 8, 12, 13, 14, 16, 24, 28}, ocvs{1, 2, 3, 4};
  const auto fits = [registers](int64_t px, int64_t ocv) { return tile_fits(px, ocv, registers); };
  int64_t px = 1, ocv = 1;
  for (int64_t v : ocvs)
    for (int64_t p : pxs)
      if (fits(p, v) && tile_cycles(columns, blocks, p, v) < tile_cycles(columns, blocks, px, ocv)) px = p, ocv = v;
  const int64_t tiles = g.n * (columns == g.out_pixels() ? 1 : g.out[1]) * ((columns + px - 1) / px);
  // A tile of 14 pixels by 1024 channels and their weights are twice L1: both then come from L2 at every step. Sums in between go
  // through out, which costs less from half a block's worth of L1 on. Pixels side by side come from L2 as fast as they are used.
  const std::vector<int64_t> kcbs{1, 2, 4, 8, 16, 1024};
  const int64_t bytes_a_block = 4 * block * g.taps() * ocv * block;
  const int64_t kcb = in_blocks * bytes_a_block <= device.l2_bytes / 16 || (from_blocks && g.taps() == 1)
                          ? 1024
                          : largest(kcbs, [&](int64_t k) { return k * bytes_a_block <= device.l1d_bytes * 4 / 3; });
  const std::vector<int64_t> gathers{1, 2, 4, 8, 16, 32};
  const int64_t bytes_a_tile = 4 * std::min(kcb, in_blocks) * g.taps() * px * block;
  const int64_t gather = from_blocks ? largest(gathers, [&](int64_t n) { return n * bytes_a_tile <= device.l2_bytes / 2; }) : 0;
  // Pixels, as the steps on either side share them, while there are enough to be even: of few each weight is used seldom, and is read by one core.
  const bool by_channels = tiles < 16 * problem.threads;
  const bool declared = declared_algorithm(problem).starts_with("winograd");
  SearchSpace space;
  space.knobs = {
      {"ALGORITHM", sorted(conv_algorithms(problem, device)), declared ? kConvWinograd : kConvBlocked, kAlgorithmMeaning},
      {"PX", pxs, px, "pixels a tile"},
      {"OCV", ocvs, ocv, "blocks of output channels a tile"},
      {"KCB", kcbs, kcb, "blocks of input channels summed before the next tile; 1024: all"},
      {"WEIGHTS_INNER", {0, 1}, weights_inner, "1: weights pass by each tile of pixels, 0: pixels by each tile of weights"},
      {"PARTITION", {0, 1}, by_channels, "threads share 0: pixels, 1: output channels"},
      // Of three channels two make a loop of one and another: a 7x7 from 3 to 64 channels 2.08 ms, one at a time 1.81 (AVX2).
      {"UNROLL", {1, 2, 4, 8, 16}, channels < block ? 1 : 2, "input channels unrolled"},
      {"PREFETCH", {0, 1}, !weights_inner, "1: the next group of weights is fetched while this one is used"},
  };
  if (from_blocks) {
    std::vector<int64_t> values{0};
    values.insert(values.end(), gathers.begin(), gathers.end());
    space.knobs.push_back({"GATHER", values, gather, "tiles of pixels laid side by side before they meet weights; 0: read where they lie"});
  }
  if (conv_algorithms(problem, device).size() > 1) add_winograd_knobs(space, problem, g, registers);
  space.cycles = [columns_of, blocks, g, block, threads = problem.threads, l2 = device.l2_bytes](const Knobs& k) {
    if (k.at("ALGORITHM") == kConvWinograd) return winograd_cycles(g, block, k, threads, l2);
    return tile_cycles(columns_of(k.count("GATHER") && k.at("GATHER") > 0), blocks, k.at("PX"), k.at("OCV"));
  };
  space.refuse = [fits](const Knobs& k) -> std::string {
    if (!fits(k.at("PX"), k.at("OCV"))) return fmt::format("{}x{} accumulators do not fit the registers", k.at("PX"), k.at("OCV"));
    return "";
  };
  return space;
}

SearchSpace blocked_depthwise_space(const Problem& problem, const SlidingWindow& g) {
  int64_t px = 4;  // the width whose last tile is fullest
  const std::vector<int64_t> pxs{1, 2, 4, 6, 7, 8, 12, 14};
  const int64_t inside = std::max<int64_t>(1, g.out[2] - (g.pad[2] > 0) - (g.pad_end[2] > 0));
  // The columns of a narrow row are all known when the text is compiled (cpu/conv_blocked_depthwise.cpp).
  const auto runs = [&](int64_t p) { return g.out[2] <= 32 ? (g.out[2] + p - 1) / p : inside / p + inside % p; };
  for (int64_t p : pxs)
    if (runs(p) < runs(px)) px = p;
  const int64_t block = channel_block(format_of_output(problem, 0));
  const bool by_channels = unevenness((g.channels + block - 1) / block, problem.threads) < unevenness(g.out[1], problem.threads);
  return {{{"ALGORITHM", {kConvBlockedDepthwise}, kConvBlockedDepthwise, kAlgorithmMeaning},
           {"PX", pxs, px, "pixels of a row summed together"},
           {"PARTITION", {0, 1}, by_channels, "threads share 0: rows, 1: channels"}},
          [](const Knobs&) { return std::string(); }};
}

// The product's own, under the convolution's choice of text.
SearchSpace halved_space(const Problem& problem, const DeviceInfo& device) {
  SearchSpace space = strassen_space(problem, device);
  space.knobs.insert(space.knobs.begin(), {"ALGORITHM", {kConvStrassen}, kConvStrassen, kAlgorithmMeaning});
  return space;
}

}  // namespace

std::vector<int64_t> conv_algorithms(const Problem& problem, const DeviceInfo& device) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const bool from_blocks = !format_of_input(problem, 0).empty();
  if (const int64_t block = channel_block(format_of_output(problem, 0)); block > 0 || from_blocks) {
    if (block == 0 || ConvParams::of(problem).transposed || !is_dense_f32(problem) || g.empty() || !problem.in[1].constant || g.spatial_rank != 2) return {};
    if (g.is_depthwise() && from_blocks && g.out_channels == g.channels) return {kConvBlockedDepthwise};
    if (const int levels = strassen_levels(problem); levels > 0 && refused_in_halves(problem, levels, device).empty()) return {kConvStrassen};
    const bool whole_groups = g.channels / g.groups % block == 0 && g.out_channels / g.groups % block == 0;
    if (g.groups == 1 && from_blocks && g.is_3x3_stride1()) return {kConvBlocked, kConvWinograd};
    if (g.groups == 1 || (whole_groups && from_blocks)) return {kConvBlocked};
    return {};
  }
  if (is_of_bytes(problem, g)) return {g.is_depthwise() && g.taps() <= kMostExactTaps ? kConvBytesDepthwise : kConvBytes};
  if (!is_dense_f32(problem) || g.empty()) return {kConvGeneric};
  if (ConvParams::of(problem).transposed) {
    const bool crops = std::all_of(g.pad.begin(), g.pad.end(), [](int64_t pad) { return pad >= 0; });
    return problem.in[1].constant && crops ? std::vector<int64_t>{kConvTransposed, kConvGeneric} : std::vector<int64_t>{kConvGeneric};
  }
  if (g.is_depthwise()) return {kConvDepthwise};
  if (g.groups == 1 && g.is_3x3_stride1() && problem.in[1].constant) return {kConvIm2col, kConvDirect, kConvWinograd};
  if (g.taps() > 1) return {kConvIm2col, kConvDirect};
  return {kConvIm2col};
}

bool winograd_saves_a_third(const Problem& problem, const DeviceInfo& device) {
  const std::vector<int64_t> algorithms = conv_algorithms(problem, device);
  if (!std::count(algorithms.begin(), algorithms.end(), kConvWinograd)) return false;
  const SlidingWindow g = SlidingWindow::of(problem);
  const int64_t pixels = g.n * g.out[1] * g.out[2], tiles = g.n * ((g.out[1] + 1) / 2) * ((g.out[2] + 1) / 2);
  return 3 * 16 * std::max(tiles, kProductsAWeight) <= 2 * 9 * std::max(pixels, kProductsAWeight);
}

SearchSpace conv_space(const Problem& problem, const DeviceInfo& device) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const std::vector<int64_t> algorithms = conv_algorithms(problem, device);
  if (algorithms.empty()) return {{}, [](const Knobs&) { return std::string("no text takes these formats"); }};
  switch (algorithms.front()) {
    case kConvIm2col:
    case kConvTransposed: return im2col_space(problem, g, device);
    case kConvDepthwise: return depthwise_space(problem, g, device);
    case kConvBlocked: return blocked_space(problem, g, device);
    case kConvBlockedDepthwise: return blocked_depthwise_space(problem, g);
    case kConvStrassen: return halved_space(problem, device);
    case kConvBytes: return bytes_space(problem, g, device);
    case kConvBytesDepthwise: return depthwise_bytes_space(g, device);
  }
  return {{{"ALGORITHM", {kConvGeneric}, kConvGeneric, kAlgorithmMeaning}}, [](const Knobs&) { return std::string(); }};
}

}  // namespace amdahl

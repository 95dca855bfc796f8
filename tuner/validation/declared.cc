#include "tuner/validation/declared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "base/error.h"

namespace amdahl {
namespace {

// winograd_f43: with the textbook's points (0, 1, -1, 2, -2) errors on images of 3 to 256 channels, all families, were at most 2.3
// times the largest bound within a tile (4 outputs a side), and 6 to 12 times those of the direct sum; the points in use round
// about half as much (cpu/conv_winograd.cpp). bfloat16 is above a hundred.
// winograd_f23: tiles of 2 outputs a side; its transforms only add and halve.
// bf16: operands of a product are rounded to 8 significant bits, sums stay in fp32.
// strassen: bounded by the oracle. On uniform inputs, 128 and 197 rows, 768 and 3072 steps, its rms error was 1.4 (KC 128) to 3.3 (KC 768) times
// that of a plain product with KC 256, the starter's; strassen2's 2.0 (KC 64) to 6.4 (KC 768) times.
const std::map<std::string, ErrorConstant> kConstants = {
    {"winograd_f43", {4, 3, {}, 12}},
    {"winograd_f23", {2, 1}},
    {"bf16", {1, 0, {0x1.0p-8, 0}, HUGE_VAL}},
    {"strassen", {1, 0, {0, 1}, 4}},
    {"strassen2", {1, 0, {0, 2}, 8}},
    {"bf16_strassen", {1, 0, {0x1.0p-8, 1}, HUGE_VAL}},
    {"bf16_strassen2", {1, 0, {0x1.0p-8, 2}, HUGE_VAL}},
};

// The largest of each row's neighbours within `reach`; `stride` apart, `extent` of them.
template <typename Real>
void dilate(std::vector<Real>& values, size_t extent, size_t stride, size_t reach) {
  const std::vector<Real> from = values;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t at = i / stride % extent;
    const size_t first = at - std::min(at, reach), last = std::min(extent - 1, at + reach);
    for (size_t n = first; n <= last; ++n) values[i] = std::max(values[i], from[i + n * stride - at * stride]);
  }
}

}  // namespace

int exact_bits(const ProductArithmetic& products) { return products.rounding == 0 ? 12 : products.strassen < 2 ? 8 : 6; }

ErrorConstant declared_constant(const std::vector<Step>& steps) {
  ErrorConstant largest;
  for (const Step& step : steps) {
    const std::string name = declared_algorithm(step.variant.problem);
    if (name.empty()) continue;
    const auto known = kConstants.find(name);
    if (known == kConstants.end())
      throw Error(ExitCode::kInternal, fmt::format("no error constant for the declared algorithm '{}': add it to tuner/validation/declared.cc", name));
    largest.factor = std::max(largest.factor, known->second.factor);
    largest.halo = std::max(largest.halo, known->second.halo);
    largest.ratchet = std::max(largest.ratchet, known->second.ratchet);
    largest.products.rounding = std::max(largest.products.rounding, known->second.products.rounding);
    largest.products.strassen = std::max(largest.products.strassen, known->second.products.strassen);
  }
  return largest;
}

Expected with_halo(const Expected& expected, const ErrorConstant& constant, const Expected* nonfinite) {
  Expected wide = expected;
  for (size_t number = 0; number < wide.outputs.size(); ++number) {
    ExpectedOutput& o = wide.outputs[number];
    std::visit(
        [&](auto& f) {
          using Real = std::remove_reference_t<decltype(f.bound[0])>;
          // A value that is not finite spoils the sums of all its neighbours.
          for (size_t i = 0; i < f.bound.size(); ++i)
            if (!std::isfinite(f.value[i]) || (nonfinite && std::isnan(nonfinite->outputs[number].value_at(i))))
              f.bound[i] = std::numeric_limits<Real>::infinity();
          if (o.shape.size() == 4 && !f.bound.empty()) {
            const auto height = static_cast<size_t>(o.shape[2]), width = static_cast<size_t>(o.shape[3]);
            dilate(f.bound, width, 1, static_cast<size_t>(constant.halo));
            dilate(f.bound, height, width, static_cast<size_t>(constant.halo));
          }
          for (Real& b : f.bound) b *= static_cast<Real>(constant.factor);
        },
        o.floats);
  }
  return wide;
}

}  // namespace amdahl

#include "tuner/validation/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/in_parallel.h"
#include "base/printable.h"
#include "graph/zero_signs.h"
#include "plan/format.h"

namespace amdahl {
namespace {

Tensor drawn_input(const Value& value, const Draw& draw, int source, const InputRange& range) {
  std::byte* data;
  Tensor t = Tensor::allocate(value.dtype, value.shape, &data);
  fill_input(data, value.dtype, value.shape, draw, source, range);
  return t;
}

Tensor drawn_weight(const Program::Buffer& b, const Draw& draw) {
  std::byte* data;
  Tensor t = Tensor::allocate(b.dtype, b.shape, &data);
  fill_weight(data, b.dtype, t.numel(), b.mean, b.deviation, draw, b.source);
  return t;
}

// Half a unit in the last place of the storage type, for results that are rounded when stored.
double storage_rounding(DType dtype) { return dtype == DType::kF16 ? 0x1.0p-11 : dtype == DType::kBF16 ? 0x1.0p-8 : 0; }

template <typename Real>
BoundedFloats<Real> rounded(const RefTensor& r) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  BoundedFloats<Real> e;
  const size_t n = r.value.size();
  e.value.resize(n);
  e.bound.resize(n);
  const double rounding = storage_rounding(r.dtype);
  for (size_t i = 0; i < n; ++i) {
    const double v = r.value[i];
    e.value[i] = static_cast<Real>(v);
    if (std::isfinite(v) && !std::isfinite(e.value[i])) {  // not far from where fp32 ends: not compared
      e.value[i] = 0;
      e.bound[i] = kInfinity;
      continue;
    }
    if (!std::isfinite(v)) {  // not rounded: infinity times no rounding at all is NaN
      e.bound[i] = static_cast<Real>(r.bound_at(static_cast<int64_t>(i)));
      continue;
    }
    const double bound = r.bound_at(static_cast<int64_t>(i)) + rounding * std::abs(v) + std::abs(v - static_cast<double>(e.value[i]));
    e.bound[i] = bound == 0 ? Real{0} : std::nextafter(static_cast<Real>(bound), kInfinity);
  }
  return e;
}

ExpectedOutput expected_output(const RefTensor& r) {
  ExpectedOutput e;
  e.dtype = r.dtype;
  e.shape = r.shape;
  if (!r.is_float()) {
    e.ints = r.ints;
    e.int_bound = r.bound;
  } else if (r.dtype == DType::kF64) {
    e.floats = rounded<double>(r);
  } else {
    e.floats = rounded<float>(r);
  }
  return e;
}

void describe(Expected& e) {
  int64_t all = 0, judged = 0, nonzero = 0;
  bool exact = true;
  for (const ExpectedOutput& o : e.outputs) {
    std::visit(
        [&](const auto& f) {
          for (size_t i = 0; i < f.value.size(); ++i) {
            judged += !std::isfinite(f.value[i]) || std::isfinite(f.bound[i]);
            nonzero += f.value[i] != 0;
            exact = exact && std::abs(f.value[i]) < 0x1.0p24f && f.value[i] == std::rint(f.value[i]);
          }
          all += static_cast<int64_t>(f.value.size());
        },
        o.floats);
    for (int64_t v : o.ints) nonzero += v != 0;
    judged += static_cast<int64_t>(o.ints.size()) - std::count_if(o.int_bound.begin(), o.int_bound.end(), [](double b) { return std::isinf(b); });
    all += static_cast<int64_t>(o.ints.size());
  }
  e.exact = exact;
  e.judged = all ? static_cast<double>(judged) / static_cast<double>(all) : 1;
  e.nonzero = all ? static_cast<double>(nonzero) / static_cast<double>(all) : 1;
}

std::string place(const Program::Buffer& b, size_t at) {
  std::string index;
  for (size_t d = b.shape.size(); d-- > 0;) {
    const auto extent = static_cast<size_t>(b.shape[d]);
    index = fmt::format("{}{}{}", at % extent, index.empty() ? "" : ",", index);
    at /= extent;
  }
  return fmt::format("'{}'[{}]", shown(b.name), index);
}

constexpr int64_t kLeast = 1 << 18;  // elements that are worth a thread

// What was found over some neighbouring elements of an output.
struct Part {
  int64_t first = 0, judged = 0, offender = -1;  // offender: the first that is not within its bound
  double max_error = 0, max_bound = 0, square_error = 0, square_value = 0, square_bound = 0, fourth_bound = 0;
};

bool is_other_zero(double want, double bound, double got) { return want == 0 && bound == 0 && got == 0 && std::signbit(got) != std::signbit(want); }

template <typename Real, typename Values>
Part compare_part(const BoundedFloats<Real>& e, bool zero_signs, const Values& values, int64_t first, int64_t last) {
  Part part{first};
  for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
    const double want = e.value[i], bound = e.bound[i], got = values[i];
    bool ok;
    if (std::isnan(want)) {
      ok = std::isnan(got);
    } else if (std::isinf(want)) {
      ok = std::isfinite(bound) ? got == want : !std::isfinite(got);
    } else if (!std::isfinite(bound)) {
      continue;
    } else {
      const double error = std::abs(got - want);
      ok = error <= bound && !(zero_signs && is_other_zero(want, bound, got));  // false for NaN
      if (std::isfinite(error)) {
        part.max_error = std::max(part.max_error, error);
        part.square_error += error * error;
        part.square_value += want * want;
        part.square_bound += bound * bound;
        part.fourth_bound += bound * bound * bound * bound;
        part.max_bound = std::max(part.max_bound, bound);
        ++part.judged;
      }
    }
    if (!ok && part.offender < 0) part.offender = static_cast<int64_t>(i);
  }
  return part;
}

// Adds up in order: the same sums every time.
template <typename Real, typename Values>
std::vector<Part> compare_floats(const BoundedFloats<Real>& e, bool zero_signs, const Values& values) {
  std::mutex mutex;
  std::vector<Part> parts;
  in_parallel(static_cast<int64_t>(e.value.size()), 1, kLeast, [&](int64_t first, int64_t last) {
    const Part part = compare_part(e, zero_signs, values, first, last);
    const std::lock_guard lock(mutex);
    parts.push_back(part);
  });
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  return parts;
}

struct Sums {
  double square_error = 0, square_value = 0, square_bound = 0, fourth_bound = 0;
  int64_t judged = 0;
};

template <typename Real, typename Values>
void add_floats(const BoundedFloats<Real>& e, bool zero_signs, const Program::Buffer& b, const Values& values, Discrepancy& d, Sums& sums) {
  for (const Part& part : compare_floats(e, zero_signs, values)) {
    d.max_error = std::max(d.max_error, part.max_error);
    d.max_bound = std::max(d.max_bound, part.max_bound);
    sums.square_error += part.square_error;
    sums.square_value += part.square_value;
    sums.square_bound += part.square_bound;
    sums.fourth_bound += part.fourth_bound;
    sums.judged += part.judged;
    if (part.offender < 0 || !d.within) continue;
    const auto i = static_cast<size_t>(part.offender);
    d.within = false;
    d.sign_of_zero = e.value[i] == 0 && values[i] == 0;
    d.message = fmt::format("{} is {:.{}g}, should be {:.{}g} +- {:.2g}", place(b, i), static_cast<double>(values[i]), std::numeric_limits<Real>::max_digits10,
                            e.value[i], std::numeric_limits<Real>::max_digits10, e.bound[i]);
  }
}

}  // namespace

size_t output_bytes(const Program& program) {
  size_t bytes = 0;
  for (int number : program.outputs) bytes += program.buffers[static_cast<size_t>(number)].bytes;
  return bytes;
}

size_t Expected::bytes() const {
  size_t n = 0;
  for (const ExpectedOutput& o : outputs)
    n += std::visit([](const auto& f) { return sizeof f.value[0] * (f.value.size() + f.bound.size()); }, o.floats) + 8 * (o.ints.size() + o.int_bound.size());
  return n;
}

std::vector<ValueId> distinct_inputs(const WindowIo& io) {
  std::vector<ValueId> distinct;
  for (const Operand& o : io.inputs)
    if (std::find(distinct.begin(), distinct.end(), o.value) == distinct.end()) distinct.push_back(o.value);
  return distinct;
}

void GivenValues::take_weights(const WindowIo& io, const Program& program, const Draw& draw) {
  std::vector<const Program::Buffer*> seeded;
  std::string weights = fmt::format("of {}: {};", fmt::join(distinct_inputs(io), " "), how_weights_are_drawn(draw));
  for (const Program::Buffer& b : program.buffers) {
    if (b.role != Program::Role::kConstant || b.blob_offset >= 0) continue;
    seeded.push_back(&b);
    weights +=
        fmt::format("{} {} {} {} {} {};", io.constants[static_cast<size_t>(b.source)], b.source, name_of(b.dtype), to_string(b.shape), b.mean, b.deviation);
  }
  if (weights == weights_) return;
  values_.clear();
  for (const Program::Buffer* b : seeded) values_[io.constants[static_cast<size_t>(b->source)]] = RefTensor::of(drawn_weight(*b, draw));
  weights_ = weights;
}

const RefValues& GivenValues::of(const Graph& graph, const WindowIo& io, const Program& program, const Draw& draw, const std::vector<InputRange>& ranges) {
  take_weights(io, program, draw);
  const std::vector<ValueId> inputs = distinct_inputs(io);
  for (size_t s = 0; s < inputs.size(); ++s) values_[inputs[s]] = RefTensor::of(drawn_input(graph.value(inputs[s]), draw, static_cast<int>(s), ranges[s]));
  return values_;
}

const RefValues& GivenValues::of(const WindowIo& io, const Program& program, const Draw& weights, const std::vector<Tensor>& inputs) {
  take_weights(io, program, weights);
  const std::vector<ValueId> values = distinct_inputs(io);
  for (size_t s = 0; s < values.size(); ++s) values_[values[s]] = RefTensor::of(inputs.at(s));
  return values_;
}

Expected expected_outputs(const Graph& graph, const WindowIo& io, const RefValues& given, const ProductArithmetic& products) {
  std::vector<ValueId> wanted;
  for (const Operand& o : io.outputs) wanted.push_back(o.value);
  const RefValues values = evaluate(graph, io.nodes, given, wanted, /*bounds=*/true, products);
  Expected e;
  for (ValueId v : wanted) {
    e.outputs.push_back(expected_output(values.at(v)));
    e.outputs.back().zero_signs = zero_signs_decided(graph, io.nodes, v);
  }
  describe(e);
  return e;
}

Expected expected_outputs(const Graph& graph, const WindowIo& io, const Program& program, const Draw& draw, const std::vector<InputRange>& ranges,
                          const ProductArithmetic& products, GivenValues& given) {
  return expected_outputs(graph, io, given.of(graph, io, program, draw, ranges), products);
}

Discrepancy compare(const Expected& expected, const Program& program, std::span<const std::byte> outputs) {
  Discrepancy d;
  Sums sums;
  size_t at = 0;
  for (size_t o = 0; o < expected.outputs.size(); ++o) {
    const ExpectedOutput& e = expected.outputs[o];
    const Program::Buffer& b = program.buffers[static_cast<size_t>(program.outputs[o])];
    const std::byte* stored = outputs.data() + at;
    at += b.bytes;
    if (e.dtype == DType::kF32 && b.format.empty() && reinterpret_cast<uintptr_t>(stored) % alignof(float) == 0) {
      add_floats(std::get<BoundedFloats<float>>(e.floats), e.zero_signs, b, reinterpret_cast<const float*>(stored), d, sums);
      continue;
    }
    std::byte* plain;
    const Tensor got = Tensor::allocate(b.dtype, b.shape, &plain);
    if (b.format.empty()) std::memcpy(plain, stored, b.bytes);
    else from_format(stored, plain, b.dtype, b.shape, b.format);
    if (is_float(e.dtype)) {
      if (e.dtype == DType::kF32) add_floats(std::get<BoundedFloats<float>>(e.floats), e.zero_signs, b, got.as<float>(), d, sums);
      else std::visit([&](const auto& f) { add_floats(f, e.zero_signs, b, to_doubles(got), d, sums); }, e.floats);
      continue;
    }
    const std::vector<int64_t> ints = to_ints(got);
    for (size_t i = 0; i < ints.size() && d.within; ++i) {
      if (ints[i] == e.ints[i]) continue;
      if (!e.int_bound.empty() && std::abs(static_cast<double>(ints[i]) - static_cast<double>(e.ints[i])) <= e.int_bound[i]) continue;
      d.within = false;
      d.message = fmt::format("{} is {}, should be {}", place(b, i), ints[i], e.ints[i]);
    }
  }
  if (sums.judged > 0) {
    d.rms_error = std::sqrt(sums.square_error / static_cast<double>(sums.judged));
    d.rms_value = std::sqrt(sums.square_value / static_cast<double>(sums.judged));
    d.rms_bound = std::sqrt(sums.square_bound / static_cast<double>(sums.judged));
    if (sums.fourth_bound > 0) d.deciding = sums.square_bound * sums.square_bound / sums.fourth_bound;
  }
  return d;
}

namespace {

// One output in row-major order. `plain` holds it when it is stored otherwise.
std::span<const std::byte> row_major(const Program::Buffer& b, std::span<const std::byte> stored, std::vector<std::byte>& plain) {
  if (b.format.empty()) return stored;
  plain.resize(static_cast<size_t>(numel(b.shape)) * size_of(b.dtype));
  from_format(stored.data(), plain.data(), b.dtype, b.shape, b.format);
  return plain;
}

// Quotients and powers of numbers that nobody has seen before may be larger than all that bounds are known for. What was
// computed from other numbers is not within a thousandth, nor, of half floats, within eight of their roundings (2^-11, 2^-8): of a hundred one.
constexpr double kSame = 1e-3, kSameF16 = 0x1p-8, kSameBf16 = 0x1p-5;

// Equal infinities have no difference, NaNs no equality; what is infinite in one alone is not within any share of it.
template <typename Stored, typename Widen>
int64_t count_beyond(std::span<const std::byte> a, std::span<const std::byte> b, double tolerance, double same, Widen widen) {
  using Real = decltype(widen(Stored{}));
  const auto *p = reinterpret_cast<const Stored*>(a.data()), *q = reinterpret_cast<const Stored*>(b.data());
  const auto limit = static_cast<Real>(tolerance), relative = static_cast<Real>(same);
  int64_t different = 0;
  for (size_t i = 0; i < a.size() / sizeof(Stored); ++i) {
    const Real x = widen(p[i]), y = widen(q[i]);
    different += !(std::abs(x - y) <= std::max(limit, relative * std::min(std::abs(x), std::numeric_limits<Real>::max()))) && !(x == y) && !(x != x && y != y);
  }
  return different;
}

int64_t count_different(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b, double tolerance) {
  switch (dtype) {
    case DType::kF32: return count_beyond<float>(a, b, tolerance, kSame, [](float x) { return x; });
    case DType::kF64: return count_beyond<double>(a, b, tolerance, kSame, [](double x) { return x; });
    case DType::kF16: return count_beyond<uint16_t>(a, b, tolerance, kSameF16, [](uint16_t x) { return f16_to_f32(x); });
    case DType::kBF16: return count_beyond<uint16_t>(a, b, tolerance, kSameBf16, [](uint16_t x) { return bf16_to_f32(x); });
    default: break;
  }
  const size_t width = size_of(dtype);
  int64_t different = 0;
  for (size_t at = 0; at + width <= a.size(); at += width) different += std::memcmp(a.data() + at, b.data() + at, width) != 0;
  return different;
}

}  // namespace

std::vector<int64_t> count_different(const Program& a_program, std::span<const std::byte> a, const Program& b_program, std::span<const std::byte> b,
                                     double tolerance) {
  std::vector<int64_t> counts;
  size_t at_a = 0, at_b = 0;
  std::vector<std::byte> plain_a, plain_b;
  for (size_t o = 0; o < a_program.outputs.size(); ++o) {
    const Program::Buffer& x = a_program.buffers[static_cast<size_t>(a_program.outputs[o])];
    const Program::Buffer& y = b_program.buffers[static_cast<size_t>(b_program.outputs[o])];
    const auto of_a = row_major(x, a.subspan(at_a, x.bytes), plain_a), of_b = row_major(y, b.subspan(at_b, y.bytes), plain_b);
    const size_t width = size_of(x.dtype);
    std::atomic<int64_t> different = 0;
    in_parallel(numel(x.shape), 1, kLeast, [&](int64_t first, int64_t last) {
      const size_t from = static_cast<size_t>(first) * width, bytes = static_cast<size_t>(last - first) * width;
      different += count_different(x.dtype, of_a.subspan(from, bytes), of_b.subspan(from, bytes), tolerance);
    });
    counts.push_back(different);
    at_a += x.bytes;
    at_b += y.bytes;
  }
  return counts;
}

double share_of_elements(const Program& program, const std::vector<int64_t>& counts) {
  int64_t counted = 0, all = 0;
  for (size_t o = 0; o < counts.size(); ++o) {
    counted += counts[o];
    all += numel(program.buffers[static_cast<size_t>(program.outputs[o])].shape);
  }
  return all ? static_cast<double>(counted) / static_cast<double>(all) : 0;
}

namespace {

template <typename Real, typename Stored = Real>
void add_squares(const std::byte* stored, size_t bytes, Real (*number)(Stored), double& squares, int64_t& count) {
  const auto* x = reinterpret_cast<const Stored*>(stored);
  for (size_t i = 0; i < bytes / sizeof(Stored); ++i) {
    const auto value = static_cast<double>(number(x[i]));
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++count;
  }
}

template <typename Real>
Real itself(Real x) {
  return x;
}

}  // namespace

double root_mean_square(const Program& program, std::span<const std::byte> outputs) {
  double squares = 0;
  int64_t count = 0;
  size_t at = 0;
  for (int number : program.outputs) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(number)];
    const std::byte* stored = outputs.data() + at;
    if (b.dtype == DType::kF32) add_squares(stored, b.bytes, itself<float>, squares, count);
    if (b.dtype == DType::kF64) add_squares(stored, b.bytes, itself<double>, squares, count);
    if (b.dtype == DType::kF16) add_squares(stored, b.bytes, f16_to_f32, squares, count);
    if (b.dtype == DType::kBF16) add_squares(stored, b.bytes, bf16_to_f32, squares, count);
    at += b.bytes;
  }
  return count ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

}  // namespace amdahl

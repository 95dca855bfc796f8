// GCC 12 reports its own AVX-512 intrinsics as uninitialised when Eigen's product kernels are inlined (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "graph/ops/eval_support.h"

#include <fmt/format.h>

// Its parallel product spins until the other threads have packed their part: where another program has one's processor, for all of that program's turn.
// A product of 1024 x 1024 was 90% of a session's time beside ten programs on two processors.
#define EIGEN_DONT_PARALLELIZE
#include <omp.h>

#include <Eigen/Core>
#include <algorithm>
#include <memory>

#include "base/in_parallel.h"

namespace amdahl {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Room for the magnitudes of one operand, which a thread keeps: what references leave to the heap between them is in pieces, and to touch 309 MB of new
// memory for each (a weight of 768 x 50257) was 30% of judging that window on a machine that gives it at 0.3 to 1 GB/s.
class Magnitudes {
 public:
  // |x| + e, elementwise, and 0 + e for an x that is not finite; null of nothing. Until it is called again. `beyond` and more is infinite. With `narrowed` so is what
  // bfloat16 may round to infinity, and a denormal number may be lost: instructions that multiply in it take those for zero.
  const double* of(std::span<const double> x, std::span<const double> e, double beyond, bool narrowed) {
    if (x.empty()) return nullptr;
    const double end = narrowed ? 0x1.ffp+127 : beyond, lost = narrowed && !e.empty() ? kFlush : 0;
    if (x.size() > room_) {
      data_.reset();
      data_ = std::make_unique_for_overwrite<double[]>(x.size());  // which threads touch, unlike a vector's zeros
      room_ = x.size();
    }
    double* const out = data_.get();
#pragma omp parallel for if (worth_threads(static_cast <int64_t>(x.size())))
    for (size_t i = 0; i < x.size(); ++i) {
      const double a = std::fabs(x[i]), finite = a < end ? a : a < HUGE_VAL ? HUGE_VAL : 0.0;
      out[i] = finite + (e.empty() ? 0.0 : e[i]) + (finite < lost ? finite : 0.0);
    }
    return out;
  }

 private:
  std::unique_ptr<double[]> data_;
  size_t room_ = 0;
};

// 1 where `is(x, e)`, else 0; empty where that is nowhere.
template <typename Is>
std::vector<double> marked(BilinearOperand t, Is is) {
  std::vector<double> marks;
  for (size_t i = 0; i < t.value.size(); ++i) {
    if (!is(t.value[i], t.bound.empty() ? 0.0 : t.bound[i])) continue;
    marks.resize(t.value.size());
    marks[i] = 1;
  }
  return marks;
}

// A NaN of an infinity by what is zero here, but may be another number in an honest computation.
void settle_uncertain_zeros(const Bilinear& f, BilinearOperand a, BilinearOperand b, int64_t size, double* value, double* bound) {
  if (std::none_of(value, value + size, [](double v) { return std::isnan(v); })) return;
  const auto is_infinite = [](double x, double) { return std::isinf(x); };
  const auto may_be_zero = [](double x, double e) { return e > 0 && std::fabs(x) <= e; };
  std::vector<double> products(static_cast<size_t>(size));
  const auto settle = [&](const std::vector<double>& of_a, const std::vector<double>& of_b) {
    if (of_a.empty() || of_b.empty()) return;
    f(of_a.data(), of_b.data(), nullptr, products.data());
    for (int64_t i = 0; i < size; ++i)
      if (products[static_cast<size_t>(i)] > 0 && std::isnan(value[i])) value[i] = 0, leave_open(value[i], bound[i]);
  };
  settle(marked(a, may_be_zero), marked(b, is_infinite));
  settle(marked(a, is_infinite), marked(b, may_be_zero));
}

bool has_denormals(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), [](double v) { return v != 0 && std::fabs(v) < kFlush; });
}

}  // namespace

RefTensor& float_output(EvalContext& context, size_t i) {
  RefTensor& out = context.out(i);
  out.value.assign(static_cast<size_t>(out.numel()), 0.0);
  if (context.bounds) out.bound.assign(static_cast<size_t>(out.numel()), 0.0);
  return out;
}

bool is_uncertain(const RefTensor& integers) {
  return std::any_of(integers.bound.begin(), integers.bound.end(), [](double e) { return e > 0; });
}

void finish_bounds(RefTensor& out, bool sums) {
  const Precision p = precision_of(out.dtype);
  for (size_t i = 0; i < out.value.size(); ++i) {
    double& z = out.value[i];
    const double a = std::fabs(z);
    if (out.bound.empty()) {
      if (a >= p.overflow) z = std::copysign(HUGE_VAL, z);
      continue;
    }
    double& e = out.bound[i];
    if (!std::isfinite(z)) {
      e = sums && std::isinf(z) ? HUGE_VAL : 0;
    } else if (std::isnan(e) || a + e >= p.overflow) {
      const bool certain = a - e >= p.overflow;
      if (certain && out.is_inside) {
        leave_open(z, e);
        continue;
      }
      if (certain) z = std::copysign(HUGE_VAL, z);
      e = certain ? 0 : HUGE_VAL;
    } else if (p.store > 0) {
      e += p.store * (a + e) + 0.5 * p.tiny;
    }
  }
}

void require_float(const InferContext& context, size_t i) {
  if (!is_float(context.dtype(i))) throw Refusal(fmt::format("input {} is {}; only float types are supported", i, name_of(context.dtype(i))));
  if (context.dtype(i) != context.dtype(0))
    throw Refusal(fmt::format("inputs 0 and {} differ in type ({} and {})", i, name_of(context.dtype(0)), name_of(context.dtype(i))));
}

namespace {

// Products of one number throughout with another are equal terms, which round alike (graph/ops/sum_growth.h).
double products_growth(std::span<const double> a, std::span<const double> b, int64_t terms, double u) {
  const auto is_one_number = [](std::span<const double> x) { return std::ranges::all_of(x, [&](double v) { return v == x[0]; }); };
  return std::max(dot_growth(terms, u), is_one_number(a) && is_one_number(b) ? (static_cast<double>(terms) + 4.0) * u : 0.0);
}

}  // namespace

void bounded_bilinear(const Bilinear& f, BilinearOperand a, BilinearOperand b, BilinearOperand c, int64_t terms, double rounding, const SumType& sums,
                      int64_t size, double* value, double* bound) {
  f(a.value.data(), b.value.data(), c.value.empty() ? nullptr : c.value.data(), value);
  if (!bound) return;
  const double beyond = sums.beyond, g = (1 + products_growth(a.value, b.value, terms, sums.u)) * (1 + rounding) * (1 + rounding) - 1;
  static thread_local Magnitudes of_a, of_b, of_c;
  const bool narrowed = rounding > 0;
  const double underflow = static_cast<double>(terms + 8) * (narrowed ? kFlush : sums.step);
  // A sum of nothing but zeros is one; products of doubles may be zero here alone.
  const double of_zeros = sums.beyond == HUGE_VAL ? underflow : 0;
  f(of_a.of(a.value, {}, beyond, narrowed), of_b.of(b.value, {}, beyond, narrowed), of_c.of(c.value, {}, beyond, false), bound);
  if (a.bound.empty() && b.bound.empty() && c.bound.empty() && !(narrowed && (has_denormals(a.value) || has_denormals(b.value)))) {
    for (int64_t i = 0; i < size; ++i) {
      const double magnitude = bound[i];
      bound[i] = magnitude > 0 ? g * magnitude + underflow : of_zeros;
      settle_sum(value[i], bound[i], magnitude, beyond);
    }
    return;
  }
  std::vector<double> upper(static_cast<size_t>(size)), no_bound_a, no_bound_b;
  if (narrowed && a.bound.empty()) no_bound_a.resize(a.value.size()), a.bound = no_bound_a;
  if (narrowed && b.bound.empty()) no_bound_b.resize(b.value.size()), b.bound = no_bound_b;
  f(of_a.of(a.value, a.bound, beyond, narrowed), of_b.of(b.value, b.bound, beyond, narrowed), of_c.of(c.value, c.bound, beyond, false), upper.data());
  for (int64_t i = 0; i < size; ++i) {
    const double magnitude = upper[static_cast<size_t>(i)];
    bound[i] = magnitude > 0 ? (1.0 + g) * magnitude - bound[i] + underflow : of_zeros;
    settle_sum(value[i], bound[i], magnitude, beyond);
  }
  settle_uncertain_zeros(f, a, b, size, value, bound);
}

void settle_undivided(const Bilinear& f, std::span<const double> shares, std::span<const double> weighed, int64_t of, const SumType& sums, int64_t size,
                      double* value, double* bound) {
  const double far = std::fmin(sums.beyond, largest_of(DType::kF64)) / static_cast<double>(of);
  const auto finite_magnitude = [](double v) { return std::isfinite(v) ? std::fabs(v) : 0.0; };
  if (std::none_of(weighed.begin(), weighed.end(), [&](double v) { return finite_magnitude(v) >= far; })) return;
  std::vector<double> magnitudes(weighed.size()), undivided(static_cast<size_t>(size));
  std::transform(weighed.begin(), weighed.end(), magnitudes.begin(), finite_magnitude);
  f(shares.data(), magnitudes.data(), nullptr, undivided.data());
  for (int64_t i = 0; i < size; ++i) settle_sum(value[i], bound[i], undivided[static_cast<size_t>(i)], far);
}

std::vector<double> transposed(std::span<const double> x, int64_t rows, int64_t cols) {
  std::vector<double> out(x.size());
  if (!x.empty()) Eigen::Map<RowMajor>(out.data(), cols, rows) = Eigen::Map<const RowMajor>(x.data(), rows, cols).transpose();
  return out;
}

namespace {

constexpr int64_t kWorthAThread = 1 << 20;  // multiplications: a thread costs some 30 us

// C = A * B or C += A * B, in parts of C that threads of their own compute: none waits for another.
template <typename A, typename B>
void multiply(const A& a, const B& b, Eigen::Map<RowMajor> c, bool accumulate) {
  const int64_t m = a.rows(), n = b.cols(), k = a.cols();
  if (m == 0 || n == 0) return;
  if (k == 0 && !accumulate) c.setZero();
  if (k == 0) return;
  const auto store = [&](auto&& part, const auto& product) {
    if (accumulate) part.noalias() += product;
    else part.noalias() = product;
  };
  if (omp_in_parallel()) return store(c, a * b);  // the caller has shared its products out
  const int64_t longer = std::max(m, n), least = std::max<int64_t>(8, kWorthAThread * longer / (m * n * k));
  in_parallel(longer, 8, least, [&](int64_t first, int64_t last) {
    if (m >= n) store(c.middleRows(first, last - first), a.middleRows(first, last - first) * b);
    else store(c.middleCols(first, last - first), a * b.middleCols(first, last - first));
  });
}

}  // namespace

void gemm_f64(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c, bool accumulate) {
  multiply(Eigen::Map<const RowMajor>(a, m, k), Eigen::Map<const RowMajor>(b, k, n), Eigen::Map<RowMajor>(c, m, n), accumulate);
}

void gemm_tn_f64(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) {
  multiply(Eigen::Map<const RowMajor>(a, k, m).transpose(), Eigen::Map<const RowMajor>(b, k, n), Eigen::Map<RowMajor>(c, m, n), false);
}

}  // namespace amdahl

// ScatterElements (and its old name Scatter) and ScatterND. Elements land in index order; an uncertain index can land
// anywhere, so it makes every bound of the output infinite.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/node_upgrade.h"
#include "graph/ops/copy.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/eval_support.h"

namespace amdahl {
namespace {

enum class Combine { kReplace, kAdd, kMul, kMax, kMin };

Combine combine_of(const Node& node) {
  const std::string name = node.attr_string("reduction", "none");
  if (name == "none") return Combine::kReplace;
  if (name == "add") return Combine::kAdd;
  if (name == "mul") return Combine::kMul;
  if (name == "max") return Combine::kMax;
  if (name == "min") return Combine::kMin;
  throw Refusal("unknown reduction '" + name + "'");
}

double combined(Combine how, double a, double b) {
  switch (how) {
    case Combine::kReplace: return b;
    case Combine::kAdd: return a + b;
    case Combine::kMul: return a * b;
    case Combine::kMax: return a > b || std::isnan(a) ? a : b;
    case Combine::kMin: return a < b || std::isnan(a) ? a : b;
  }
  return b;
}

int64_t combined(Combine how, int64_t a, int64_t b, DType dtype) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool less = dtype == DType::kU64 ? ua < ub : a < b;
  switch (how) {
    case Combine::kReplace: return b;
    case Combine::kAdd: return wrap(dtype, static_cast<int64_t>(ua + ub));
    case Combine::kMul: return wrap(dtype, static_cast<int64_t>(ua * ub));
    case Combine::kMax: return less ? b : a;
    case Combine::kMin: return less ? a : b;
  }
  return b;
}

void scatter_ints(EvalContext& c, const std::vector<int64_t>& offsets, int64_t block) {
  const RefTensor &updates = c.in(2), &indices = c.in(1);
  RefTensor& out = c.out(0);
  const Combine how = combine_of(c.node);
  for (size_t i = 0; i < offsets.size(); ++i)
    for (int64_t j = 0; j < block; ++j) {
      int64_t& to = out.ints[static_cast<size_t>(offsets[i] + j)];
      to = combined(how, to, updates.ints[i * static_cast<size_t>(block) + static_cast<size_t>(j)], out.dtype);
    }
  if (!out.bound.empty() || !updates.bound.empty() || !indices.bound.empty()) out.bound.assign(out.ints.size(), HUGE_VAL);
}

// Sums in any order: each of the n additions rounds at most the sum of magnitudes.
class ScatteredSums {
 public:
  explicit ScatteredSums(const RefTensor& data) : additions_(data.value.size(), 0.0) {
    for (double v : data.value) magnitude_.push_back(std::isfinite(v) ? std::fabs(v) : 0);
  }
  void add(size_t at, double value, double bound) {
    magnitude_[at] += (std::isfinite(value) ? std::fabs(value) : 0) + bound;
    additions_[at] += 1;
  }
  void round(RefTensor& out, const Precision& p) const {
    for (size_t i = 0; i < out.bound.size(); ++i) {
      if (additions_[i] == 0) continue;
      if (!(magnitude_[i] < p.overflow) && (out.dtype == DType::kF64 || !std::isnan(out.value[i])))
        settle_sum(out.value[i], out.bound[i], magnitude_[i], p.overflow);
      else out.bound[i] += std::isfinite(out.value[i]) ? (additions_[i] * p.u + p.store) * magnitude_[i] : 0;
    }
  }

 private:
  std::vector<double> magnitude_, additions_;
};

// Of the product z = a * b, each factor within its own bound.
double bound_of_product(double a, double ea, double b, double eb, double z, const Precision& p) {
  if (!std::isfinite(z)) return 0;
  return std::fabs(z) >= p.overflow ? HUGE_VAL : std::fabs(a) * eb + std::fabs(b) * ea + ea * eb + p.u * std::fabs(z) + p.tiny;
}

void scatter_floats(EvalContext& c, const std::vector<int64_t>& offsets, int64_t block) {
  const RefTensor& updates = c.in(2);
  RefTensor& out = c.out(0);
  const Combine how = combine_of(c.node);
  const Precision p = precision_of(out.dtype);
  if (c.bounds && out.bound.empty()) out.bound.assign(out.value.size(), 0.0);
  std::optional<ScatteredSums> sums;
  if (c.bounds && how == Combine::kAdd) sums.emplace(out);
  for (size_t i = 0; i < offsets.size(); ++i)
    for (int64_t j = 0; j < block; ++j) {
      const auto at = static_cast<size_t>(offsets[i] + j), from = i * static_cast<size_t>(block) + static_cast<size_t>(j);
      const double a = out.value[at], b = updates.value[from], z = combined(how, a, b);
      out.value[at] = z;
      if (!c.bounds) continue;
      const double ea = out.bound[at], eb = updates.bound_at(static_cast<int64_t>(from));
      if (sums) sums->add(at, b, eb);
      switch (how) {
        case Combine::kReplace: out.bound[at] = eb; break;
        case Combine::kAdd: out.bound[at] = ea + eb; break;
        case Combine::kMul: out.bound[at] = bound_of_product(a, ea, b, eb, z, p); break;
        case Combine::kMax:
        case Combine::kMin: out.bound[at] = std::fmax(ea, eb); break;
      }
    }
  if (sums) sums->round(out, p);
  if (is_uncertain(c.in(1))) out.bound.assign(out.value.size(), HUGE_VAL);
}

// data[offsets[i] …] = combined(data[…], updates[i …]), `block` elements each.
void scatter(EvalContext& c, const std::vector<int64_t>& offsets, int64_t block) {
  c.out(0) = c.in(0);
  if (c.out(0).is_float()) scatter_floats(c, offsets, block);
  else scatter_ints(c, offsets, block);
}

void require_types(InferContext& c) {
  if (c.dtype(1) != DType::kI64 && c.dtype(1) != DType::kI32) throw Refusal("indices must be i32 or i64");
  if (c.dtype(2) != c.dtype(0)) throw Refusal("updates and data differ in type");
  combine_of(c.node);
}

void infer_scatter_elements(InferContext& c) {
  require_types(c);
  const Shape &in = c.shape(0), &indices = c.shape(1);
  const auto axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", 0), in.size()));
  if (indices.size() != in.size() || in.empty() || c.shape(2) != indices) throw Refusal("data, indices and updates differ in shape");
  for (size_t d = 0; d < in.size(); ++d)
    if (d != axis && indices[d] > in[d]) throw Refusal("indices reach beyond the data");
  infer_same(c);
}

void eval_scatter_elements(EvalContext& c) {
  const RefTensor& indices = c.in(1);
  const Shape& in = c.in(0).shape;
  const size_t axis = axis_of(c.node.attr_int("axis", 0), in.size());
  const Shape strides = row_major_strides(in);
  Shape at(in.size(), 0);
  std::vector<int64_t> offsets(indices.ints.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    for (size_t d = 0; d < at.size(); ++d) offsets[i] += strides[d] * (d == axis ? checked_index(indices.ints[i], in[d], c.node) : at[d]);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == indices.shape[d];) at[d] = 0;
  }
  scatter(c, offsets, 1);
}

void infer_scatter_nd(InferContext& c) {
  require_types(c);
  const Shape &in = c.shape(0), &indices = c.shape(1);
  if (in.empty() || indices.empty() || indices.back() > static_cast<int64_t>(in.size())) throw Refusal("indices do not fit the data");
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), in.begin() + indices.back(), in.end());
  if (c.shape(2) != updates) throw Refusal(fmt::format("updates of {}, expected {}", to_string(c.shape(2)), to_string(updates)));
  infer_same(c);
}

void eval_scatter_nd(EvalContext& c) {
  const RefTensor& indices = c.in(1);
  const Shape& in = c.in(0).shape;
  const auto depth = static_cast<size_t>(indices.shape.back());
  const Shape strides = row_major_strides(in);
  std::vector<int64_t> offsets(static_cast<size_t>(product(indices.shape, 0, indices.shape.size() - 1)), 0);
  for (size_t t = 0; t < offsets.size(); ++t)
    for (size_t d = 0; d < depth; ++d) offsets[t] += strides[d] * checked_index(indices.ints[t * depth + d], in[d], c.node);
  scatter(c, offsets, product(in, depth, in.size()));
}

// Gone since 11, and still found in files of later opsets.
void rename_scatter(NodeUpgrade& u) { u.node.op = "ScatterElements"; }

}  // namespace

std::vector<OpDef> scatter_ops() {
  return {
      {"", "Scatter", "aia", infer_scatter_elements, eval_scatter_elements, 1, {{17, rename_scatter}}},
      {"", "ScatterElements", "aia", infer_scatter_elements, eval_scatter_elements},
      {"", "ScatterND", "aia", infer_scatter_nd, eval_scatter_nd},
  };
}

}  // namespace amdahl

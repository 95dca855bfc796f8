#include "graph/dtype.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/error.h"

namespace amdahl {
namespace {

struct Row {
  std::string_view name;
  size_t size;
};
// In the order of DType.
constexpr std::array<Row, 13> kTypes{{{"f32", 4},
                                      {"f64", 8},
                                      {"f16", 2},
                                      {"bf16", 2},
                                      {"i8", 1},
                                      {"i16", 2},
                                      {"i32", 4},
                                      {"i64", 8},
                                      {"u8", 1},
                                      {"u16", 2},
                                      {"u32", 4},
                                      {"u64", 8},
                                      {"bool", 1}}};

}  // namespace

size_t size_of(DType dtype) { return kTypes[static_cast<size_t>(dtype)].size; }
std::string_view name_of(DType dtype) { return kTypes[static_cast<size_t>(dtype)].name; }

DType dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<DType>(i);
  throw Error(ExitCode::kInternal, fmt::format("unknown element type '{}'", name));
}

int64_t numel(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t s = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = s;
    s *= shape[i];
  }
  return strides;
}

// Shapes of tensors are shorter (kMaxRank); lists of integers out of a file, which are shown too, may be as long as the file.
std::string to_string(const Shape& shape) {
  constexpr size_t kMost = 32;
  if (shape.size() <= kMost) return fmt::format("[{}]", fmt::join(shape, ", "));
  return fmt::format("[{}, … {} more …, {}]", fmt::join(shape.begin(), shape.begin() + 6, ", "), shape.size() - 7, shape.back());
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) throw std::invalid_argument(fmt::format("shapes {} and {} do not broadcast", to_string(a), to_string(b)));
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

}  // namespace amdahl

// Numbers taken from and put to places that other numbers name. Lines: a block is a line along the dimension that is indexed.
#include <limits>

#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

int64_t place(double index, int64_t size) {
  int64_t i = int64_t(index) + (index < 0 ? size : 0);
  if (i < 0 || i >= size) throw std::runtime_error("index " + std::to_string(int64_t(index)) + " is out of range: the size is " + std::to_string(size));
  return i;
}

enum Way { kPut, kSum, kProduct, kMean, kLeast, kMost };

// b: out; line, indices, what is put there. p: the way, whether the line's own numbers take part, a factor
template <class C>
void putAt(Blocks<C>& b, P p) {
  Way way = Way(int(p[0]));
  int64_t n = b[1].count();
  b[0].numbers = b[1].numbers;
  std::vector<int64_t> members(n, 1);
  if (p[1] == 0)
    for (int64_t i = 0; i < b[2].count(); ++i) members[place(double(b[2][i]), n)] = 0;
  for (int64_t i = 0; i < b[2].count(); ++i) {
    int64_t at = place(double(b[2][i]), n);
    C x = b[3][i] * C(p[2]), old = b[0][at];
    bool first = way == kPut || members[at]++ == 0;
    bool is_nan = x != x || old != old;
    if (first) b[0][at] = x;
    else if (way == kSum || way == kMean) b[0][at] = old + x;
    else if (way == kProduct) b[0][at] = old * x;
    else b[0][at] = is_nan ? old + x : way == kLeast ? std::min(old, x) : std::max(old, x);
  }
  if (way != kMean) return;
  for (int64_t i = 0; i < n; ++i)
    if (members[i] > 1) b[0][i] /= C(members[i]);
}

// b: out; the numbers of segments, where they begin and end. p: the way, whether there is a number to begin with, that number
void reduceSegments(Blocks<double>& b, P p) {
  Way way = Way(int(p[0]));
  for (int64_t s = 0; s < b[0].count(); ++s) {
    int64_t from = int64_t(b[2][s]), to = int64_t(b[2][s + 1]);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double start = way == kProduct ? 1 : way == kLeast ? kInfinity : way == kMost ? -kInfinity : 0, result = p[1] != 0 ? p[2] : start;
    for (int64_t i = from; i < to; ++i) {
      double x = b[1][i];
      bool is_nan = x != x || result != result;
      result = way == kSum || way == kMean ? result + x
               : way == kProduct           ? result * x
               : is_nan                    ? result + x
               : way == kLeast             ? std::min(result, x)
                                           : std::max(result, x);
    }
    if (way == kMean && to > from) result /= double(to - from);
    if (way == kMean && to == from && p[1] == 0) result = std::numeric_limits<double>::quiet_NaN();
    b[0][s] = result;
  }
}

}  // namespace

const BlockKernels& indexings() {
  static const BlockKernels kernels = {
      {"gather", block([](auto& b, P) {
         for (int64_t i = 0; i < b[2].count(); ++i) b[0][i] = b[1][place(double(b[2][i]), b[1].count())];
       })},
      {"put_at", block([](auto& b, P p) { putAt(b, p); })},
      {"segments", block([](Blocks<double>& b, P p) { reduceSegments(b, p); })},
      // out; numbers, mask, what takes the place of those under the mask, in turn
      {"masked_scatter", block([](auto& b, P) {
         int64_t next = 0;
         for (int64_t i = 0; i < b[1].count(); ++i) b[0][i] = b[2][i] != 0 ? b[3].numbers.at(next++) : b[1][i];
       })},
      // out (as long as the numbers), how many; numbers, mask
      {"masked_select", block([](auto& b, P) {
         int64_t next = 0;
         for (int64_t i = 0; i < b[2].count(); ++i)
           if (b[3][i] != 0) b[0][next++] = b[2][i];
         b[1][0] = next;
       })},
      // places (as long as the numbers), how many; numbers
      {"nonzero", block([](auto& b, P) {
         int64_t next = 0;
         for (int64_t i = 0; i < b[2].count(); ++i)
           if (b[2][i] != 0) b[0][next++] = i;
         b[1][0] = next;
       })},
      // a place in memory: out; the index, the place so far. p: size, stride
      {"place", block([](auto& b, P p) {
         for (int64_t i = 0; i < b[0].count(); ++i) b[0][i] = b[2][i] + place(double(b[1][i]), int64_t(p[0])) * int64_t(p[1]);
       })},
      {"lengths_to_offsets", block([](auto& b, P) {
         b[0][0] = 0;
         for (int64_t i = 0; i < b[1].count(); ++i) b[0][i + 1] = b[0][i] + b[1][i];
       })},
  };
  return kernels;
}

}  // namespace aten

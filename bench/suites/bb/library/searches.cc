// Orders: sorting, ranks, positions among sorted numbers, sets, bins. NaN is the largest number.
#include <limits>
#include <numeric>

#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

template <class C>
bool isLess(C a, C b) {
  return a < b || (b != b && a == a);
}

template <class C>
std::vector<int64_t> order(const Block<C>& x, bool descending) {
  std::vector<int64_t> at(x.count());
  std::iota(at.begin(), at.end(), 0);
  std::stable_sort(at.begin(), at.end(), [&](int64_t i, int64_t j) { return descending ? isLess(x[j], x[i]) : isLess(x[i], x[j]); });
  return at;
}

// As many as the outputs have.
constexpr auto sorted = [](auto& b, P p) {
  std::vector<int64_t> at = order(b[2], p[0] != 0);
  for (int64_t i = 0; i < b[0].count(); ++i) b[0][i] = b[2][at[i]], b[1][i] = at[i];
};

template <class C>
using Placed = std::pair<C, int64_t>;

template <class C>
std::vector<Placed<C>> placed(const Block<C>& x) {
  std::vector<Placed<C>> all(x.count());
  for (int64_t i = 0; i < x.count(); ++i) all[i] = {x[i], i};
  return all;
}

// The first k in their order. Which of equal numbers they are, PyTorch leaves to the standard library's selection: the same steps name the same ones.
template <class C>
void select(Blocks<C>& b, P p) {
  auto before = [&](const Placed<C>& x, const Placed<C>& y) { return p[0] != 0 ? isLess(y.first, x.first) : isLess(x.first, y.first); };
  std::vector<Placed<C>> all = placed(b[2]);
  int64_t k = b[0].count();
  if (k * 64 <= int64_t(all.size())) {
    std::partial_sort(all.begin(), all.begin() + k, all.end(), before);
  } else if (k > 0) {
    std::nth_element(all.begin(), all.begin() + k - 1, all.end(), before);
    std::sort(all.begin(), all.begin() + k - 1, before);
  }
  for (int64_t i = 0; i < k; ++i) b[0][i] = all[i].first, b[1][i] = all[i].second;
}

// The number at a rank, counted from 0. PyTorch names the last of equal ones where its selection happens to leave it; here it is the first.
template <class C>
void takeRank(Blocks<C>& b, int64_t rank) {
  int64_t at = order(b[2], false)[rank];
  b[0][0] = b[2][at], b[1][0] = at;
}

// The lower of the two in the middle. A NaN makes it NaN (the first one), or is left out.
template <bool skipsNan>
constexpr auto median = [](auto& b, P) {
  int64_t numbers = 0, first_nan = -1;
  for (int64_t i = b[2].count() - 1; i >= 0; --i) {
    bool is_nan = b[2][i] != b[2][i];
    numbers += !is_nan;
    if (is_nan) first_nan = i;
  }
  if (first_nan >= 0 && (!skipsNan || numbers == 0)) {
    b[0][0] = b[2][first_nan], b[1][0] = first_nan;
    return;
  }
  takeRank(b, (numbers - 1) / 2);
};

// The most frequent number, the smallest of several; the index that comes last where the standard library sorts, as PyTorch has it.
template <class C>
void takeMode(Blocks<C>& b) {
  std::vector<Placed<C>> all = placed(b[2]);
  std::sort(all.begin(), all.end(), [](const Placed<C>& x, const Placed<C>& y) { return isLess(x.first, y.first); });
  int64_t run = 0, longest = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    ++run;
    if (i + 1 < all.size() && all[i].first == all[i + 1].first) continue;
    if (run > longest) longest = run, b[0][0] = all[i].first, b[1][0] = all[i].second;
    run = 0;
  }
}

// How many of the sorted numbers are below (p[0]: not above) each value; b[1] sorted, b[2] values, b[3], if it is there, the order that sorts b[1].
template <class C>
void positions(Blocks<C>& b, P p) {
  for (int64_t i = 0; i < b[2].count(); ++i) {
    int64_t low = 0, high = b[1].count();
    while (low < high) {
      int64_t middle = (low + high) / 2;
      C x = b[1][b.size() > 3 ? int64_t(b[3][middle]) : middle], value = b[2][i];
      (p[0] != 0 ? !isLess(value, x) : isLess(x, value)) ? low = middle + 1 : high = middle;
    }
    b[0][i] = low;
  }
}

// Of n bins of equal width; the last one has its upper edge too. Every step is rounded to the type of the numbers, as an edge has no meaning that is finer than theirs.
template <class Round>
int64_t equalBin(double x, double low, double high, int64_t n, Round round) {
  if (!(x >= low && x <= high)) return -1;
  return std::min(int64_t(round(round(round(x - low) * double(n)) / round(high - low))), n - 1);
}

// b[0] counts of b[1]; p: least, most, bytes of the type of the numbers.
void equalBins(Blocks<double>& b, P p) {
  auto round = [&](double x) { return p[2] == 8 ? x : p[2] == 4 ? double(float(x)) : fromBfloat16(toBfloat16(x)); };
  std::fill(b[0].begin(), b[0].end(), 0);
  for (double x : b[1].numbers)
    if (int64_t at = equalBin(x, round(p[0]), round(p[1]), b[0].count(), round); at >= 0) b[0][at] += 1;
}

// The edges are b[2]; b[3] weights.
void givenBins(Blocks<double>& b, P) {
  std::fill(b[0].begin(), b[0].end(), 0);
  int64_t bins = b[0].count();
  for (int64_t i = 0; i < b[1].count(); ++i) {
    double x = b[1][i];
    if (!(x >= b[2][0] && x <= b[2][bins])) continue;
    int64_t at = std::upper_bound(b[2].begin(), b[2].end(), x) - b[2].begin() - 1;
    b[0][std::min(at, bins - 1)] += b.size() > 3 ? b[3][i] : 1;
  }
}

// Counts b[1] and edges b[2] to a density.
void density(Blocks<double>& b, P) {
  double sum = std::accumulate(b[1].begin(), b[1].end(), 0.0);
  for (int64_t i = 0; i < b[0].count(); ++i) b[0][i] = b[1][i] / sum / (b[2][i + 1] - b[2][i]);
}

constexpr auto isIn = [](auto& b, P p) {
  std::vector set(b[2].numbers);
  std::erase_if(set, [](auto x) { return x != x; });
  std::sort(set.begin(), set.end());
  for (int64_t i = 0; i < b[1].count(); ++i) b[0][i] = std::binary_search(set.begin(), set.end(), b[1][i]) && b[1][i] == b[1][i] ? p[0] == 0 : p[0] != 0;
};

// The slices of b[4] (along its first dimension) that differ. b[0]: the group of each slice; b[1]: the first slice of each group; b[2]: the sizes of the groups;
// b[3]: how many there are. p[0]: whether only neighbours are compared; else groups are in the order of their numbers.
template <class C>
void groups(Blocks<C>& b, P p) {
  const Block<C>& x = b[4];
  int64_t slices = x.size[0], width = slices ? x.count() / slices : 0;
  auto compare = [&](int64_t i, int64_t j) {
    for (int64_t k = 0; k < width; ++k)
      if (x[i * width + k] != x[j * width + k]) return x[i * width + k] < x[j * width + k] ? -1 : 1;
    return 0;
  };
  std::vector<int64_t> at(slices);
  std::iota(at.begin(), at.end(), 0);
  if (p[0] == 0) std::stable_sort(at.begin(), at.end(), [&](int64_t i, int64_t j) { return compare(i, j) < 0; });
  int64_t group = -1;
  for (int64_t i = 0; i < slices; ++i) {
    if (i == 0 || compare(at[i - 1], at[i]) != 0) b[1][++group] = at[i], b[2][group] = 0;
    b[0][at[i]] = group;
    b[2][group] += 1;
  }
  b[3][0] = group + 1;
}

}  // namespace

const BlockKernels& searches() {
  static const BlockKernels kernels = {
      {"sort", block(sorted)},
      {"kthvalue", block([](auto& b, P p) { takeRank(b, int64_t(p[0]) - 1); })},
      {"median", block(median<false>)},
      {"nanmedian", block(median<true>)},
      {"mode", block([](auto& b, P) { takeMode(b); })},
      {"topk", block([](auto& b, P p) { select(b, p); })},
      {"searchsorted", block([](auto& b, P p) { positions(b, p); })},
      {"equal_bins", block([](Blocks<double>& b, P p) { equalBins(b, p); })},
      {"given_bins", block([](Blocks<double>& b, P p) { givenBins(b, p); })},
      {"density", block([](Blocks<double>& b, P p) { density(b, p); })},
      {"isin", block(isIn)},
      {"groups", block([](auto& b, P p) { groups(b, p); })},
  };
  return kernels;
}

}  // namespace aten

// Walks several tensors of one shape together, a row at a time.
#ifndef BENCH_SUITES_BB_LIBRARY_ROWS_H_
#define BENCH_SUITES_BB_LIBRARY_ROWS_H_

#include <algorithm>
#include <array>
#include <vector>

#include "tensor.h"

namespace aten {

// The first `rank` dimensions of tensors whose sizes agree in them. A dimension that continues the one after it in every tensor is merged with it.
class Walk {
 public:
  Walk(const Tensor* tensors, int count, int rank) : count_(count), data_(count) {
    for (int i = 0; i < count; ++i) data_[i] = tensors[i].data;
    for (int d = 0; d < rank; ++d) add(tensors, d);
    bytes_.resize(count);
    for (int i = 0; i < count; ++i) bytes_[i] = bytes(tensors[i].type);
  }

  // Calls f(data of every tensor, elements, strides of every tensor) for every row of the last dimension.
  template <class F>
  void eachRow(F&& f) {
    std::vector<int64_t> one(count_, 0);
    if (dims_.empty()) return f(data_, int64_t(1), one);
    for (const Dim& d : dims_)
      if (d.size == 0) return;
    Dim row = dims_.back();
    std::vector<int64_t> at(dims_.size() - 1, 0);
    while (true) {
      f(data_, row.size, row.stride);
      int d = int(at.size()) - 1;
      for (; d >= 0; --d) {
        bool wraps = ++at[d] == dims_[d].size;
        for (int i = 0; i < count_; ++i) data_[i] += (wraps ? 1 - dims_[d].size : 1) * dims_[d].stride[i] * bytes_[i];
        if (!wraps) break;
        at[d] = 0;
      }
      if (d < 0) return;
    }
  }

  // Calls f(data of every tensor) for every index.
  template <class F>
  void eachIndex(F&& f) {
    eachRow([&](std::vector<char*> data, int64_t n, const std::vector<int64_t>& stride) {
      for (int64_t j = 0; j < n; ++j) {
        f(data);
        for (int i = 0; i < count_; ++i) data[i] += stride[i] * bytes_[i];
      }
    });
  }

 private:
  struct Dim {
    int64_t size;
    std::vector<int64_t> stride;
  };

  void add(const Tensor* tensors, int d) {
    Dim dim{tensors[0].size[d], std::vector<int64_t>(count_)};
    for (int i = 0; i < count_; ++i) dim.stride[i] = tensors[i].stride[d];
    if (dim.size == 1) return;
    bool merges = !dims_.empty();
    for (int i = 0; merges && i < count_; ++i) merges = dims_.back().stride[i] == dim.size * dim.stride[i];
    if (merges) dim.size *= dims_.back().size, dims_.pop_back();
    dims_.push_back(dim);
  }

  int count_;
  std::vector<char*> data_;
  std::vector<int64_t> bytes_;
  std::vector<Dim> dims_;
};

}  // namespace aten

#endif  // BENCH_SUITES_BB_LIBRARY_ROWS_H_

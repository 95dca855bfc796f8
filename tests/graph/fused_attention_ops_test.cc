// Attentions of ONNX Runtime's own, against a loop over one head at a time.

#include "tests/graph/one_node.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;
using testing::OneNode;

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr const char* kMicrosoft = "com.microsoft";

RefTensor ints32(Shape shape, std::vector<int64_t> values) {
  RefTensor t = ints(std::move(shape), std::move(values));
  t.dtype = DType::kI32;
  return t;
}

// Heads side by side in rows: [batch, positions, heads * size].
struct Rows {
  int64_t positions, heads, size;
  std::vector<double> x;
  double at(int64_t b, int64_t p, int64_t h, int64_t i) const { return x[static_cast<size_t>(((b * positions + p) * heads + h) * size + i)]; }
};

// What is added to the score of a query and a key.
using Bias = std::function<double(int64_t b, int64_t h, int64_t q, int64_t k)>;

std::vector<double> attention(int64_t batch, const Rows& q, const Rows& k, const Rows& v, const Bias& bias, double softcap = 0, bool with_zero = false) {
  std::vector<double> y;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < q.positions; ++i)
      for (int64_t h = 0; h < q.heads; ++h) {
        const int64_t g = h / (q.heads / k.heads);
        std::vector<double> weights;
        double sum = with_zero ? 1 : 0;
        for (int64_t j = 0; j < k.positions; ++j) {
          double score = 0;
          for (int64_t d = 0; d < q.size; ++d) score += q.at(b, i, h, d) * k.at(b, j, g, d);
          score /= std::sqrt(static_cast<double>(q.size));
          if (softcap > 0) score = softcap * std::tanh(score / softcap);
          weights.push_back(std::exp(score + bias(b, h, i, j)));
          sum += weights.back();
        }
        for (int64_t d = 0; d < v.size; ++d) {
          double total = 0;
          for (int64_t j = 0; j < k.positions; ++j) total += weights[static_cast<size_t>(j)] * v.at(b, j, g, d);
          y.push_back(total / sum);
        }
      }
  return y;
}

// x [rows, inner] times w [inner, columns], plus a bias; columns [from, to) alone.
std::vector<double> projected(const RefTensor& x, const RefTensor& w, const RefTensor& bias, int64_t from, int64_t to) {
  const int64_t inner = w.shape[0], columns = w.shape[1], rows = x.numel() / inner;
  std::vector<double> y;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = from; c < to; ++c) {
      double sum = bias.value[static_cast<size_t>(c)];
      for (int64_t i = 0; i < inner; ++i) sum += x.value[static_cast<size_t>(r * inner + i)] * w.value[static_cast<size_t>(i * columns + c)];
      y.push_back(sum);
    }
  return y;
}

// What is cached of `rows`' positions [from, to): heads apart.
RefTensor cache(const Rows& rows, int64_t batch, int64_t from, int64_t to) {
  RefTensor t = floats({batch, rows.heads, to - from, rows.size}, {});
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < rows.heads; ++h)
      for (int64_t p = from; p < to; ++p)
        for (int64_t i = 0; i < rows.size; ++i) t.value.push_back(rows.at(b, p, h, i));
  return t;
}

// And positions as rows of their own.
RefTensor part(const Rows& rows, int64_t batch, int64_t from, int64_t to) {
  RefTensor t = floats({batch, to - from, rows.heads * rows.size}, {});
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t p = from; p < to; ++p)
      for (int64_t h = 0; h < rows.heads; ++h)
        for (int64_t i = 0; i < rows.size; ++i) t.value.push_back(rows.at(b, p, h, i));
  return t;
}

Rows random_rows(int64_t batch, int64_t positions, int64_t heads, int64_t size, uint64_t seed) {
  return {positions, heads, size, random_floats({batch, positions, heads * size}, seed).value};
}

struct Projection {
  RefTensor x = random_floats({2, 3, 4}, 1), w = random_floats({4, 14}, 2), bias = random_floats({14}, 3);  // 2 heads: 4 of queries and keys, 6 of values
  Rows q{3, 2, 2, projected(x, w, bias, 0, 4)}, k{3, 2, 2, projected(x, w, bias, 4, 8)}, v{3, 2, 3, projected(x, w, bias, 8, 14)};
  OneNode node{kMicrosoft, "Attention"};

  explicit Projection(const RefTensor* mask) {
    node.data(x).known(w).known(bias).set("num_heads", 2).set("qkv_hidden_sizes", {4, 4, 6});
    if (mask) node.data(*mask);
  }
};

TEST(FusedAttention, ProjectsAndLooksBack) {
  Projection p(nullptr);
  p.node.set("unidirectional", 1);
  expect_values(p.node.output(), attention(2, p.q, p.k, p.v, [](int64_t, int64_t, int64_t q, int64_t k) { return k <= q ? 0 : kNever; }), 1e-9);
}

TEST(FusedAttention, PadsByLengthsByKeysAndByQueries) {
  const RefTensor ends = ints32({2}, {2, 3}), ends_and_begins = ints32({4}, {3, 2, 1, 0}), flags = ints32({2, 3}, {1, 0, 1, 1, 1, 0});
  const RefTensor cube = ints32({2, 3, 3}, {1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0});
  const auto masked = [](bool seen) { return seen ? 0.0 : -50.0; };
  const std::vector<std::pair<const RefTensor*, Bias>> forms = {
      {&ends, [&](int64_t b, int64_t, int64_t, int64_t k) { return masked(k < ends.ints[static_cast<size_t>(b)]); }},
      {&ends_and_begins,
       [&](int64_t b, int64_t, int64_t, int64_t k) {
         const auto u = static_cast<size_t>(b);
         return masked(k < ends_and_begins.ints[u] && k >= ends_and_begins.ints[u + 2]);
       }},
      {&flags, [&](int64_t b, int64_t, int64_t, int64_t k) { return masked(flags.ints[static_cast<size_t>(b * 3 + k)] > 0); }},
      {&cube, [&](int64_t b, int64_t, int64_t q, int64_t k) { return masked(cube.ints[static_cast<size_t>((b * 3 + q) * 3 + k)] > 0); }},
  };
  for (const auto& [mask, bias] : forms) {
    Projection p(mask);
    p.node.set("mask_filter_value", -50.0);
    SCOPED_TRACE(to_string(mask->shape));
    expect_values(p.node.output(), attention(2, p.q, p.k, p.v, bias), 1e-9);
  }
}

TEST(FusedAttention, SaysWhatItDoesNotDo) {
  Projection p(nullptr);
  p.node.set("do_rotary", 1);
  EXPECT_NE(p.node.refusal().find("do_rotary inside of it is not supported: export the RotaryEmbedding"), std::string::npos);
  const RefTensor mask = ints32({2, 1, 3, 3}, std::vector<int64_t>(18, 1));
  Projection q(&mask);
  EXPECT_NE(q.node.refusal().find("a mask of shape [2, 1, 3, 3]"), std::string::npos);
}

TEST(MultiHeadAttention, LooksBackIntoItsCache) {
  const int64_t batch = 2, past = 2, fresh = 3;
  const Rows q = random_rows(batch, fresh, 2, 4, 1), k = random_rows(batch, past + fresh, 2, 4, 2), v = random_rows(batch, past + fresh, 2, 4, 3);
  const RefTensor bias = random_floats({1, 2, fresh, past + fresh}, 4);
  OneNode node(kMicrosoft, "MultiHeadAttention");
  node.data(part(q, batch, 0, fresh)).data(part(k, batch, past, past + fresh)).data(part(v, batch, past, past + fresh)).absent().absent().data(bias);
  node.data(cache(k, batch, 0, past)).data(cache(v, batch, 0, past)).set("num_heads", 2).set("unidirectional", 1);
  const std::vector<RefTensor> y = node.outputs(3);
  const auto added = [&](int64_t, int64_t h, int64_t i, int64_t j) {
    return j <= i + past ? bias.value[static_cast<size_t>((h * fresh + i) * (past + fresh) + j)] : kNever;
  };
  expect_values(y[0], attention(batch, q, k, v, added), 1e-9);
  expect_values(y[1], cache(k, batch, 0, past + fresh).value);
  expect_values(y[2], cache(v, batch, 0, past + fresh).value);
}

TEST(MultiHeadAttention, QueriesKeysAndValuesMayLieInOneTensor) {
  const RefTensor packed = random_floats({1, 3, 2, 3, 4}, 5);  // positions, heads, q or k or v, size
  const auto taken = [&](int64_t which) {
    Rows rows{3, 2, 4, {}};
    for (int64_t p = 0; p < 3; ++p)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t i = 0; i < 4; ++i) rows.x.push_back(packed.value[static_cast<size_t>(((p * 2 + h) * 3 + which) * 4 + i)]);
    return rows;
  };
  OneNode node(kMicrosoft, "MultiHeadAttention");
  node.data(packed).set("num_heads", 2);
  expect_values(node.output(), attention(1, taken(0), taken(1), taken(2), [](int64_t, int64_t, int64_t, int64_t) { return 0; }), 1e-9);
}

// 4 heads on 2; how much of a cache of `room` is held is in the data or known.
struct Grouped {
  int64_t batch, room, fresh;
  std::vector<int64_t> held;
  Rows q, k, v;  // k, v: of all positions of a sequence
  OneNode node{kMicrosoft, "GroupQueryAttention"};

  Grouped(int64_t room, int64_t fresh, std::vector<int64_t> held, bool known)
      : batch(static_cast<int64_t>(held.size())),
        room(room),
        fresh(fresh),
        held(held),
        q(random_rows(batch, fresh, 4, 4, 1)),
        k(random_rows(batch, room + fresh, 2, 4, 2)),
        v(random_rows(batch, room + fresh, 2, 4, 3)) {
    node.data(part(q, batch, 0, fresh)).data(behind(k)).data(behind(v)).set("num_heads", 4).set("kv_num_heads", 2);
    if (room > 0) node.data(cache(k, batch, 0, room)).data(cache(v, batch, 0, room));
    else node.absent().absent();
    std::vector<int64_t> last;
    for (const int64_t h : held) last.push_back(h + fresh - 1);
    known ? node.known(ints32({batch}, last)) : node.data(ints32({batch}, last));
    node.known(ints32({1}, {*std::max_element(last.begin(), last.end()) + 1}));
  }
  // New rows: of each sequence those behind what is held.
  RefTensor behind(const Rows& rows) const {
    RefTensor t = floats({batch, fresh, rows.heads * rows.size}, {});
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t p = 0; p < fresh; ++p)
        for (int64_t h = 0; h < rows.heads; ++h)
          for (int64_t i = 0; i < rows.size; ++i) t.value.push_back(rows.at(b, held[static_cast<size_t>(b)] + p, h, i));
    return t;
  }
  Bias seen(int64_t window = -1) const {
    return [this, window](int64_t b, int64_t, int64_t i, int64_t j) {
      const int64_t at = held[static_cast<size_t>(b)] + i;
      return j <= at && (window < 0 || j > at - window) ? 0 : kNever;
    };
  }
};

TEST(GroupQueryAttention, APromptSeesItself) {
  Grouped g(0, 3, {0, 0}, false);
  expect_values(g.node.output(), attention(2, g.q, g.k, g.v, g.seen()), 1e-9);
}

TEST(GroupQueryAttention, CappedScoresHideWhatComesLaterToo) {
  Grouped g(0, 3, {0, 0}, true);
  g.node.set("softcap", 1.5);
  expect_values(g.node.output(), attention(2, g.q, g.k, g.v, g.seen(), 1.5), 1e-7);
}

// Behind a cache that is full, whether that is known or not.
TEST(GroupQueryAttention, NewPositionsGoBehindAFullCache) {
  for (const bool known : {true, false}) {
    Grouped g(3, 2, {3}, known);
    g.node.set("softcap", 1.5);
    const std::vector<RefTensor> y = g.node.outputs(3);
    expect_values(y[0], attention(1, g.q, g.k, g.v, g.seen(), 1.5), 1e-7);
    expect_values(y[1], cache(g.k, 1, 0, 5).value);
    expect_values(y[2], cache(g.v, 1, 0, 5).value);
  }
}

// Rows beyond what a sequence holds are never seen; the others are where they were.
TEST(GroupQueryAttention, SequencesMayHoldLessThanTheCacheHasRoomFor) {
  for (const int64_t fresh : {1, 2}) {
    Grouped g(5, fresh, {1, 3}, false);
    g.node.set("local_window_size", 2);
    const std::vector<RefTensor> y = g.node.outputs(3);
    ASSERT_EQ(y[1].shape, (Shape{2, 2, 5, 4}));
    expect_values(y[0], attention(2, g.q, g.k, g.v, g.seen(2)), 1e-9);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t p = 0; p < g.held[static_cast<size_t>(b)] + fresh; ++p)
        EXPECT_EQ(y[1].value[static_cast<size_t>((b * 2 * 5 + p) * 4)], g.k.at(b, p, 0, 0)) << b << ", " << p;
  }
}

TEST(GroupQueryAttention, ASmoothSoftmaxHasAZeroAmongItsScores) {
  Grouped g(0, 3, {0}, true);
  g.node.set("smooth_softmax", 1);
  expect_values(g.node.output(), attention(1, g.q, g.k, g.v, g.seen(), 0, true), 1e-9);
}

TEST(GroupQueryAttention, WhateverTheLengthsHoldNothingBesideTheCacheIsRead) {
  Grouped g(3, 1, {2}, false);
  OneNode node(kMicrosoft, "GroupQueryAttention");
  node.data(part(g.q, 1, 0, 1)).data(g.behind(g.k)).data(g.behind(g.v)).data(cache(g.k, 1, 0, 3)).data(cache(g.v, 1, 0, 3));
  node.data(ints32({1}, {1000})).known(ints32({1}, {3})).data(random_floats({8, 2}, 7)).data(random_floats({8, 2}, 8));
  node.set("num_heads", 4).set("kv_num_heads", 2).set("do_rotary", 1);
  for (const double v : node.output().value) EXPECT_TRUE(std::isfinite(v));
}

}  // namespace
}  // namespace amdahl

// Operators of the standard that are made of others, where the ONNX project's own cases do not reach: younger ones, other forms, and what is refused.

#include <numbers>

#include "tests/graph/one_node.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;
using testing::OneNode;

OneNode standard(const char* op, int opset = 26) { return {"", op, opset}; }

// Sum of x[n] e^(sign 2 pi i k n / length), as pairs.
std::vector<double> transform(const std::vector<double>& re, const std::vector<double>& im, int64_t length, int64_t results, double sign, double weight) {
  std::vector<double> y;
  for (int64_t k = 0; k < results; ++k) {
    double a = 0, b = 0;
    for (size_t n = 0; n < re.size() && static_cast<int64_t>(n) < length; ++n) {
      const double angle = sign * 2 * std::numbers::pi * static_cast<double>(k) * static_cast<double>(n) / static_cast<double>(length);
      a += re[n] * std::cos(angle) - im[n] * std::sin(angle);
      b += re[n] * std::sin(angle) + im[n] * std::cos(angle);
    }
    y.insert(y.end(), {weight * a, weight * b});
  }
  return y;
}

TEST(Dft, LengthsThatCutOrPad) {
  const std::vector<double> re = {1, -2, 0.5, 3, 1.5}, none(5, 0.0);
  for (const int64_t length : {3, 5, 8}) {
    SCOPED_TRACE(length);
    const RefTensor x = floats({1, 5, 1}, re);
    expect_values(standard("DFT").data(x).known(ints({}, {length})).output(), transform(re, none, length, length, -1, 1), 1e-6);
    expect_values(standard("DFT").data(x).known(ints({}, {length})).set("onesided", 1).output(), transform(re, none, length, length / 2 + 1, -1, 1), 1e-6);
  }
}

TEST(Dft, AnInverseUndoesIt) {
  const RefTensor x = random_floats({2, 6, 2}, 1);
  const RefTensor spectrum = standard("DFT").data(x).output();
  RefTensor rounded = RefTensor::of(spectrum.to_tensor());
  expect_values(standard("DFT").data(rounded).set("inverse", 1).output(), x.value, 1e-6);
  const RefTensor real = random_floats({2, 7, 1}, 2);
  rounded = RefTensor::of(standard("DFT").data(real).set("onesided", 1).output().to_tensor());
  const RefTensor back = standard("DFT").data(rounded).known(ints({}, {7})).set("onesided", 1).set("inverse", 1).output();
  EXPECT_EQ(back.shape, real.shape);
  expect_values(back, real.value, 1e-6);
}

// An attribute until opset 19, an input since.
TEST(Dft, AlongTheFirstAxis) {
  const RefTensor x = floats({2, 1, 1}, {3, 5});
  expect_values(standard("DFT", 17).data(x).set("axis", 0).output(), {8, 0, -2, 0}, 1e-6);
  expect_values(standard("DFT", 20).data(x).absent().known(ints({}, {0})).output(), {8, 0, -2, 0}, 1e-6);
  EXPECT_NE(standard("DFT", 20).data(x).absent().known(ints({}, {2})).refusal().find("the last dimension holds the parts"), std::string::npos);
}

TEST(Dft, AMatrixThatWouldBeLargeIsRefused) {
  EXPECT_NE(standard("DFT").data(floats({1, 65536, 1}, {})).refusal().find("would be a product with a matrix"), std::string::npos);
}

TEST(Stft, AWindowThatIsData) {
  const RefTensor x = random_floats({1, 7, 1}, 3), w = random_floats({4}, 4);
  std::vector<double> expected;
  for (const size_t from : {0, 3}) {
    std::vector<double> frame;
    for (size_t n = 0; n < 4; ++n) frame.push_back(x.value[from + n] * w.value[n]);
    const std::vector<double> y = transform(frame, std::vector<double>(4), 4, 3, -1, 1);
    expected.insert(expected.end(), y.begin(), y.end());
  }
  const RefTensor y = standard("STFT").data(x).known(ints({}, {3})).data(w).output();
  EXPECT_EQ(y.shape, (Shape{1, 2, 3, 2}));
  expect_values(y, expected, 1e-6);
}

TEST(Windows, OfOneElementTheSymmetricOneIsNone) {
  EXPECT_EQ(standard("HannWindow").known(ints({}, {1})).refusal(), "");
  EXPECT_NE(standard("HannWindow").known(ints({}, {1})).set("periodic", 0).refusal().find("0 / 0"), std::string::npos);
}

TEST(Grids, ThreeDimensionsOfAffineGrid) {
  // The identity: x, y, z of each voxel.
  const RefTensor theta = floats({1, 3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5});
  const RefTensor y = standard("AffineGrid").data(theta).known(ints({5}, {1, 1, 2, 1, 2})).set("align_corners", 0).output();
  EXPECT_EQ(y.shape, (Shape{1, 2, 1, 2, 3}));
  expect_values(y, {-0.5, 0, 0, 0.5, 0, 0, -0.5, 0, 1, 0.5, 0, 1});
}

TEST(Rare, Swish) {
  const RefTensor x = floats({2}, {-1, 2});
  expect_values(standard("Swish").data(x).set("alpha", 0.5).output(), {-1 / (1 + std::exp(0.5)), 2 / (1 + std::exp(-1.0))}, 1e-9);
}

TEST(Rare, DeterminantsUpToThree) {
  expect_values(standard("Det").data(floats({2, 1, 1}, {3, -2})).output(), {3, -2});
  expect_values(standard("Det").data(floats({2, 2}, {1, 2, 3, 4})).output(), {-2});
  expect_values(standard("Det").data(floats({1, 3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4})).output(), {18});
  EXPECT_NE(standard("Det").data(floats({4, 4}, {})).refusal().find("4 x 4 is not supported, at most 3 x 3"), std::string::npos);
}

TEST(Rare, ProductsAlongAnAxis) {
  const RefTensor x = ints({5}, {1, 2, 3, 4, 5});
  const auto products = [&](int64_t exclusive, int64_t reverse) {
    return standard("CumProd").data(x).known(ints({}, {0})).set("exclusive", exclusive).set("reverse", reverse).output().ints;
  };
  EXPECT_EQ(products(0, 0), (std::vector<int64_t>{1, 2, 6, 24, 120}));
  EXPECT_EQ(products(1, 0), (std::vector<int64_t>{1, 1, 2, 6, 24}));
  EXPECT_EQ(products(0, 1), (std::vector<int64_t>{120, 120, 60, 20, 5}));
  EXPECT_EQ(products(1, 1), (std::vector<int64_t>{120, 60, 20, 5, 1}));
}

TEST(Rare, ACacheIsWrittenAtAPlaceOfEachSequence) {
  const RefTensor cache = ints({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}), update = ints({2, 2, 1}, {10, 20, 30, 40}), at = ints({2}, {2, 3});
  EXPECT_EQ(standard("TensorScatter").data(cache).data(update).output().ints, (std::vector<int64_t>{10, 20, 3, 4, 30, 40, 7, 8}));
  EXPECT_EQ(standard("TensorScatter").data(cache).data(update).data(at).set("mode", "circular").output().ints,
            (std::vector<int64_t>{1, 2, 10, 20, 40, 6, 7, 30}));
}

TEST(Rare, BitsStayWhatTheyAre) {
  RefTensor x = ints({2}, {-1, 1});
  x.dtype = DType::kI32;
  EXPECT_EQ(standard("BitCast").data(x).set("to", onnx::TensorProto::UINT32).output().ints, (std::vector<int64_t>{4294967295, 1}));
  x.ints = {0x3f800000, 0};
  expect_values(standard("BitCast").known(x).set("to", onnx::TensorProto::FLOAT).output(), {1, 0});
  EXPECT_NE(standard("BitCast").data(x).set("to", onnx::TensorProto::FLOAT).refusal().find("depends on the data"), std::string::npos);
  EXPECT_NE(standard("BitCast").data(x).set("to", onnx::TensorProto::INT8).refusal().find("has not as many bits as i32"), std::string::npos);
}

// What is left out on purpose says why.
TEST(KnownLimits, HaveReasons) {
  EXPECT_NE(standard("RandomNormalLike").data(floats({1}, {0})).refusal().find("its output is random: make the random numbers an input"), std::string::npos);
  EXPECT_NE(standard("Unique").data(floats({1}, {0})).refusal().find("the shape of its output depends on the data"), std::string::npos);
  EXPECT_NE(standard("SequenceConstruct").data(floats({1}, {0})).refusal().find("sequences of tensors are not supported"), std::string::npos);
  EXPECT_NE(standard("Frobnicate").data(floats({1}, {0})).refusal().find("unknown operator"), std::string::npos);
}

// [1, 1, positions, 1] of a head each, whose scores are all equal: what comes out is the mean of the values that are seen.
std::vector<double> means(OneNode node, const std::vector<double>& values, const std::vector<double>& past, size_t queries) {
  const auto of = [](const std::vector<double>& x) { return floats({1, 1, static_cast<int64_t>(x.size()), 1}, x); };
  const auto nothing = [&](size_t n) { return of(std::vector<double>(n, 0.0)); };
  node.data(nothing(queries)).data(nothing(values.size())).data(of(values)).absent();
  if (!past.empty()) node.data(nothing(past.size())).data(of(past));
  return node.output().value;
}

TEST(AttentionCache, QueriesStandBehindWhatIsCached) {
  EXPECT_EQ(means(standard("Attention").set("is_causal", 1), {4, 12}, {2, 6}, 2), (std::vector<double>{4, 6}));
  EXPECT_EQ(means(standard("Attention"), {4, 12}, {2, 6}, 2), (std::vector<double>{6, 6}));
}

// Opset 25 gave Attention windows.
TEST(AttentionCache, AWindowReachesToBothSides) {
  EXPECT_EQ(means(standard("Attention").set("left_window_size", 1), {2, 4, 12}, {}, 3), (std::vector<double>{6, 6, 8}));
  EXPECT_EQ(means(standard("Attention").set("left_window_size", 0).set("right_window_size", 1), {2, 4, 12}, {}, 3), (std::vector<double>{3, 8, 12}));
  EXPECT_EQ(means(standard("Attention").set("left_window_size", -1), {2, 4, 12}, {}, 3), (std::vector<double>{6, 6, 6}));
}

TEST(AttentionCache, LengthsEndSequencesAndPlaceTheirQueries) {
  const RefTensor zeros = floats({2, 1, 3, 1}, std::vector<double>(6, 0)), values = floats({2, 1, 3, 1}, {2, 4, 12, 2, 4, 12});
  const RefTensor queries = floats({2, 1, 1, 1}, {0, 0});
  OneNode node = standard("Attention");
  node.data(queries).data(zeros).data(values).absent().absent().absent().data(ints({2}, {2, 3})).set("is_causal", 1);
  expect_values(node.output(), {3, 6});
}

TEST(BatchNormalization, TrainsWithTheBatchsOwnMean) {
  const RefTensor x = floats({2, 1, 2}, {1, 3, 5, 7}), scale = floats({1}, {2}), bias = floats({1}, {1}), mean = floats({1}, {10}),
                  variance = floats({1}, {20});
  OneNode node = standard("BatchNormalization", 15);
  node.data(x).data(scale).data(bias).data(mean).data(variance).set("training_mode", 1).set("momentum", 0.5).set("epsilon", 0.0);
  const std::vector<RefTensor> y = node.outputs(3);
  const double deviation = std::sqrt(5.0);
  expect_values(y[0], {1 - 6 / deviation, 1 - 2 / deviation, 1 + 2 / deviation, 1 + 6 / deviation}, 1e-9);
  expect_values(y[1], {7});
  expect_values(y[2], {12.5});
}

// Places count in the image that the windows say, of all channels; those that the data hold are held in it.
TEST(MaxUnpool, PutsElementsBack) {
  const RefTensor x = floats({1, 2, 1, 2}, {1, 2, 3, 4}), at = ints({1, 2, 1, 2}, {5, 2, 8, 15});
  const auto node = [&](const RefTensor& places) { return standard("MaxUnpool", 11).data(x).known(places).set("kernel_shape", {2, 2}).set("strides", {2, 2}); };
  RefTensor y = node(at).output();
  EXPECT_EQ(y.shape, (Shape{1, 2, 2, 4}));
  expect_values(y, {0, 0, 2, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 4});
  y = node(at).known(ints({4}, {1, 2, 2, 5})).output();
  expect_values(y, {0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0});
  EXPECT_NE(node(at).known(ints({4}, {1, 2, 2, 3})).refusal().find("an output_shape of [1, 2, 2, 3] for an image [1, 2, 2, 4]"), std::string::npos);
  EXPECT_NE(node(ints({1, 2, 2}, {0, 0, 0, 0})).refusal().find("places [1, 2, 2] for [1, 2, 1, 2]"), std::string::npos);
}

// Sums of integers wrap, those that floats decided carry it on.
TEST(Einsum, OfIntegers) {
  RefTensor a = ints({2, 2}, {1, 2, 3, 4}), b = ints({2, 2}, {10, 20, INT32_MAX, 1});
  a.dtype = b.dtype = DType::kI32;
  const RefTensor y = standard("Einsum").set("equation", "ij,jk->ki").data(a).data(b).output();
  EXPECT_EQ(y.ints, (std::vector<int64_t>{10 + 2ll * INT32_MAX - (1ll << 32), 30 + 4ll * INT32_MAX - (2ll << 32), 22, 64}));
  a.bound = {0, 0.5, 0, 0};
  const RefTensor z = run_one({"Einsum", 17, {{"equation", std::string("ij,jk->ki")}}}, {&a, &b});
  EXPECT_EQ(z.bound, (std::vector<double>{0.5 * INT32_MAX, 0, 0.5, 0}));
  EXPECT_EQ(standard("Einsum").set("equation", "ii").data(a).output().ints, (std::vector<int64_t>{5}));
  RefTensor c = ints({2}, {100, -2});
  c.dtype = DType::kI8;
  const RefTensor narrow = standard("Einsum").set("equation", "i,j->ij").data(c).data(c).output();
  EXPECT_EQ(narrow.dtype, DType::kI8);
  EXPECT_EQ(narrow.ints, (std::vector<int64_t>{16, 56, 56, 4}));
}

TEST(Einsum, OfManyOperands) {
  const RefTensor a = random_floats({2, 3}, 1), b = random_floats({3, 4}, 2), c = random_floats({4, 2, 5}, 3), d = random_floats({5}, 4);
  std::vector<double> expected(4);
  for (size_t i = 0; i < 2; ++i)
    for (size_t l = 0; l < 2; ++l)
      for (size_t j = 0; j < 3; ++j)
        for (size_t k = 0; k < 4; ++k)
          for (size_t m = 0; m < 5; ++m) expected[l * 2 + i] += a.value[i * 3 + j] * b.value[j * 4 + k] * c.value[(k * 2 + l) * 5 + m] * d.value[m];
  const auto of = [](const char* equation) { return standard("Einsum").set("equation", equation); };
  expect_values(of("ij,jk,klm,m->li").data(a).data(b).data(c).data(d).output(), expected, 1e-12);
  EXPECT_NE(of("ij,jk,klm,n->li").data(a).data(b).data(c).data(d).data(d).refusal().find("has 4 terms for 5 operands"), std::string::npos);
  expect_values(of("...i,i,i->...").data(a).data(floats({3}, {1, 2, 3})).data(floats({1}, {2})).output(),
                {2 * (a.value[0] + 2 * a.value[1] + 3 * a.value[2]), 2 * (a.value[3] + 2 * a.value[4] + 3 * a.value[5])}, 1e-12);
}

}  // namespace
}  // namespace amdahl

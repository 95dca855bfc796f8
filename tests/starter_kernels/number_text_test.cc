// Constants of kernels' texts have the bits that they were given, also where C++ and JSON have no number for them.

#include "starter_kernels/text/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(NumberText, EndsOfTheFloats) {
  EXPECT_EQ(float_text(kInf), "(__builtin_inff())");
  EXPECT_EQ(double_text(-kInf), "(-__builtin_inf())");
  EXPECT_EQ(float_text(std::nan("")), "(__builtin_nanf(\"\"))");
  EXPECT_EQ(double_text(std::nan("")), "(__builtin_nan(\"\"))");
  EXPECT_EQ(float_text(-0.0), "(-0x0p+0f)");
  EXPECT_EQ(float_text(1e-45), "(0x1p-149f)");
  EXPECT_EQ(float_text(3.4028234663852886e38), "(0x1.fffffep+127f)");
  EXPECT_EQ(float_text(1e39), "(__builtin_inff())");  // rounded to a float first
  EXPECT_EQ(float_text(0.1), "(0x1.99999ap-4f)");
  EXPECT_EQ(double_text(0.1), "(0x1.999999999999ap-4)");
}

TEST(NumberText, JsonKeepsEveryBit) {
  for (double v : {0.0, -0.0, 0.1, -1e-45, 1e308, kInf, -kInf, std::nan("")}) {
    const double back = number_of(Json::parse(number_json(v).dump()));
    EXPECT_TRUE(std::isnan(v) ? std::isnan(back) : std::memcmp(&v, &back, sizeof v) == 0) << v;
  }
}

TEST(NumberText, OfAPointwiseProgramThatWasStored) {
  const PointwiseProgram program{1, {DType::kF32}, {{"elu", {0}, DType::kF32, -0.0}, {"selu", {1}, DType::kF32, kInf, std::nan("")}}, {2}};
  const auto back = Json::parse(Json(program).dump()).get<PointwiseProgram>();
  EXPECT_EQ(emit_program(back, "p"), emit_program(program, "p"));
  EXPECT_NE(emit_program(back, "p").find("(-0x0p+0f)"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

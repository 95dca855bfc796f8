// Models of a few hundred bytes whose constants would take gigabytes, each by another operator. What such a file justifies is a
// small and constant amount of memory: past that its constants are left to kernels, which plan theirs.

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "graph/models/load_model.h"
#include "graph/onnx/onnx_load.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/peak_memory.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

using testing::ModelMaker;
using testing::set_int;
using testing::set_ints;
using testing::TemporaryFolder;

constexpr double kJustified = 160 << 20;

struct Bomb {
  const char* what;
  std::function<void(ModelMaker&)> make;
};

void PrintTo(const Bomb& b, std::ostream* out) { *out << b.what; }

// Eight results of 2^24 elements, each of another node, so that neither one node nor their number is what saves us.
std::function<void(ModelMaker&)> eight(const std::function<void(ModelMaker&, const std::string& result)>& node) {
  return [=](ModelMaker& m) {
    for (int i = 0; i < 8; ++i) {
      const std::string result = "z" + std::to_string(i);
      node(m, result);
      m.output(result);
    }
  };
}

constexpr int64_t k12 = 1 << 12, k24 = 1 << 24;

// Operators that copy, repeat and make up numbers.
std::vector<Bomb> bombs_of_copies() {
  const auto scalar = [](ModelMaker& m, const std::string& name, float v) { m.initializer(name, {}, {v}); };
  return {
      {"Concat of twice the last",
       [](ModelMaker& m) {
         m.initializer("c0", {16}, std::vector<float>(16, 1.0f));
         for (int i = 0; i < 26; ++i) {
           const std::string from = "c" + std::to_string(i), to = "c" + std::to_string(i + 1);
           set_int(m.node("Concat", {from, from}, {to}), "axis", 0);
         }
         m.output("c26");
       }},
      {"Concat of thousands",
       [](ModelMaker& m) {
         m.initializer("c", {1024}, std::vector<float>(1024, 1.0f));
         set_int(m.node("Concat", std::vector<std::string>(16384, "c"), {"z"}), "axis", 0);
         m.output("z");
       }},
      {"Add with itself in two dimensions",
       [](ModelMaker& m) {
         m.initializer("c", {4096, 1}, std::vector<float>(4096, 1.0f));
         m.node("Transpose", {"c"}, {"t"});
         m.node("Add", {"c", "t"}, {"z"});
         for (int i = 0; i < 5; ++i) m.node("Exp", {i ? "z" + std::to_string(i) : "z"}, {"z" + std::to_string(i + 1)});
         m.output("z5");
       }},
      {"ConstantOfShape", eight([](ModelMaker& m, const std::string& z) {
         m.initializer_i64(z + "s", {k24});
         m.node("ConstantOfShape", {z + "s"}, {z});
       })},
      {"Expand", eight([](ModelMaker& m, const std::string& z) {
         m.initializer(z + "x", {1}, {1.0f});
         m.initializer_i64(z + "s", {k12, k12});
         m.node("Expand", {z + "x", z + "s"}, {z});
       })},
      {"Tile", eight([](ModelMaker& m, const std::string& z) {
         m.initializer(z + "x", {1, 1}, {1.0f});
         m.initializer_i64(z + "s", {k12, k12});
         m.node("Tile", {z + "x", z + "s"}, {z});
       })},
      {"Pad", eight([](ModelMaker& m, const std::string& z) {
         m.initializer(z + "x", {1}, {1.0f});
         m.initializer_i64(z + "s", {k24 / 2, k24 / 2});
         m.node("Pad", {z + "x", z + "s"}, {z});
       })},
      {"Resize", eight([](ModelMaker& m, const std::string& z) {
         m.initializer(z + "x", {1, 1, 2, 2}, {1, 2, 3, 4});
         m.initializer_i64(z + "s", {1, 1, k12, k12});
         m.node("Resize", {z + "x", "", "", z + "s"}, {z});
       })},
      {"Range", eight([=](ModelMaker& m, const std::string& z) {
         scalar(m, z + "from", 0), scalar(m, z + "to", k24), scalar(m, z + "by", 1);
         m.node("Range", {z + "from", z + "to", z + "by"}, {z});
       })},
      {"OneHot", eight([](ModelMaker& m, const std::string& z) {
         m.initializer_i64(z + "i", std::vector<int64_t>(16, 1));
         m.initializer_i64(z + "d", {k24 / 16}).clear_dims();
         m.initializer(z + "v", {2}, {0, 1});
         m.node("OneHot", {z + "i", z + "d", z + "v"}, {z});
       })},
      {"EyeLike", eight([](ModelMaker& m, const std::string& z) {
         m.initializer_i64(z + "s", {k12, k12});
         set_int(m.node("ConstantOfShape", {z + "s"}, {z + "c"}), "unused", 0);
         m.node("EyeLike", {z + "c"}, {z});
       })},
      {"Gather of one element", eight([](ModelMaker& m, const std::string& z) {
         m.initializer(z + "x", {2, 1024}, std::vector<float>(2048, 1.0f));
         m.initializer_i64(z + "s", {k24 / 1024});
         auto* value = m.node("ConstantOfShape", {z + "s"}, {z + "i"}).add_attribute();
         value->set_name("value");
         value->set_type(onnx::AttributeProto::TENSOR);
         value->mutable_t()->set_data_type(onnx::TensorProto::INT64);
         value->mutable_t()->add_dims(1);
         value->mutable_t()->add_int64_data(1);
         m.node("Gather", {z + "x", z + "i"}, {z});
       })},
  };
}

// And those that compute more of them than they are given.
std::vector<Bomb> bombs_of_products() {
  return {
      {"Einsum, outer product", eight([](ModelMaker& m, const std::string& z) {
         m.initializer_i64(z + "s", {k12});
         m.node("ConstantOfShape", {z + "s"}, {z + "c"});
         auto* equation = m.node("Einsum", {z + "c", z + "c"}, {z}).add_attribute();
         equation->set_name("equation");
         equation->set_type(onnx::AttributeProto::STRING);
         equation->set_s("i,j->ij");
       })},
      {"Einsum, everything summed",
       [](ModelMaker& m) {
         m.initializer("c", {14000}, std::vector<float>(14000, 1.0f));
         auto* equation = m.node("Einsum", {"c", "c"}, {"z"}).add_attribute();
         equation->set_name("equation");
         equation->set_type(onnx::AttributeProto::STRING);
         equation->set_s("i,j->");
         m.output("z");
       }},
      {"MatMul, outer product", eight([](ModelMaker& m, const std::string& z) {
         for (const char* side : {"a", "b"}) {
           m.initializer_i64(z + side + "s", side[0] == 'a' ? std::vector<int64_t>{k12, 1} : std::vector<int64_t>{1, k12});
           m.node("ConstantOfShape", {z + side + "s"}, {z + side});
         }
         m.node("MatMul", {z + "a", z + "b"}, {z});
       })},
      {"Cast to a wide type", eight([](ModelMaker& m, const std::string& z) {
         m.initializer_i64(z + "s", {k24});
         m.node("ConstantOfShape", {z + "s"}, {z + "c"});
         set_int(m.node("Cast", {z + "c"}, {z + "b"}), "to", onnx::TensorProto::BOOL);
         set_int(m.node("Cast", {z + "b"}, {z}), "to", onnx::TensorProto::DOUBLE);
       })},
      {"ConvTranspose", eight([](ModelMaker& m, const std::string& z) {
         m.initializer(z + "x", {1, 1, 2, 2}, {1, 2, 3, 4});
         m.initializer(z + "w", {1, 1, 1, 1}, {1});
         set_ints(m.node("ConvTranspose", {z + "x", z + "w"}, {z}), "strides", {k12, k12});
       })},
  };
}

std::vector<Bomb> bombs() {
  std::vector<Bomb> all = bombs_of_copies();
  for (const Bomb& bomb : bombs_of_products()) all.push_back(bomb);
  return all;
}

class MemoryBomb : public ::testing::TestWithParam<Bomb> {};

TEST_P(MemoryBomb, LoadsInWhatItsSizeJustifies) {
  ModelMaker m;
  GetParam().make(m);
  const std::string bytes = m.bytes();
  for (const bool clean : {true, false}) {
    LoadOptions options;
    options.clean = clean;
    const auto grown = testing::peak_growth([&] {
      try {
        load_onnx_bytes(bytes, "", options);
      } catch (const Error& e) {
        EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(ExitCode::kUnsupported)) << e.what();
      }
    });
    if (!grown) GTEST_SKIP() << "the kernel does not reset a process's peak";
    EXPECT_LT(*grown, kJustified) << "for a file of " << bytes.size() << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, MemoryBomb, ::testing::ValuesIn(bombs()), [](const auto& info) {
  std::string name = info.param.what;
  std::erase_if(name, [](unsigned char c) { return !isalnum(c); });
  return name;
});

// The budget is for honest models too: the mask of 1024 positions and a table of rotations are still constants.
TEST(FoldBudget, HoldsMasksAndTables) {
  ModelMaker m;
  m.initializer_i64("square", {1024, 1024});
  m.node("ConstantOfShape", {"square"}, {"zeros"});
  m.node("Trilu", {"zeros"}, {"mask"});
  m.node("Exp", {"mask"}, {"factor"});
  m.output("factor");
  const Graph graph = load_onnx_bytes(m.bytes(), "", {});
  EXPECT_TRUE(graph.is_constant(graph.outputs[0]));
}

// Forty bytes of the model each, and the whole file of weights: misaligned ones would be copied.
TEST(ExternalDataReadOverAndOver, IsRefused) {
  const TemporaryFolder dir;
  dir.write("w.bin", std::string(1 << 20, '\1'));
  for (const int64_t first : {0, 1}) {
    ModelMaker m;
    m.input("x", {"2"}).output("y");
    m.node("Relu", {"x"}, {"y"});
    for (int i = 0; i < 200; ++i) m.external("w" + std::to_string(i), {(1 << 18) - 256}, "w.bin", first + 4 * i);
    const std::string file = dir.write("m.onnx", m.bytes());
    const auto grown = testing::peak_growth([&] {
      try {
        load_model(file, {});
        ADD_FAILURE() << "loaded";
      } catch (const Error& e) {
        EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(ExitCode::kBadModel));
        EXPECT_NE(std::string(e.what()).find("'w.bin' over and over"), std::string::npos) << e.what();
      }
    });
    EXPECT_LT(grown.value_or(0), kJustified);
  }
}

TEST(ExternalDataReadOverAndOver, IsFineForTiedWeights) {
  const TemporaryFolder dir;
  dir.write("w.bin", std::string(1 << 20, '\1'));
  ModelMaker m;
  m.input("x", {"262144"}).output("y0").output("y1").output("y2");
  for (const std::string n : {"0", "1", "2"}) {
    m.external("w" + n, {1 << 18}, "w.bin", 0);
    m.node("Add", {"x", "w" + n}, {"y" + n});
  }
  EXPECT_NO_THROW(load_model(dir.write("m.onnx", m.bytes()), {}));
}

}  // namespace
}  // namespace amdahl

#include "graph/onnx/tensor_io.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

using testing::TemporaryFolder;

std::string npy(int version, const std::string& header, const std::string& data) {
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  const uint32_t length = static_cast<uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return bytes + header + data;
}

std::string complaint(const std::string& path) {
  try {
    load_tensor(path);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kBadInput) << e.what();
    return e.what();
  }
}

TEST(TensorIo, NpyComesBackTheSame) {
  const TemporaryFolder dir;
  const std::vector<double> values = {0, 1, 1, 0, 1, 1};
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16, DType::kU32,
                      DType::kU64, DType::kBool})
    for (const Shape& shape : {Shape{6}, Shape{2, 3}, Shape{1, 2, 3}}) {
      save_npy(from_doubles(dtype, shape, values), dir / "t.npy");
      const Tensor back = load_tensor(dir / "t.npy");
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.shape(), shape);
      EXPECT_EQ(to_doubles(back), values);
    }
  EXPECT_EQ(std::filesystem::file_size(dir / "t.npy") % 64, 6u);
}

TEST(TensorIo, ScalarsAndEmptyArrays) {
  const TemporaryFolder dir;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 0, 2}}) {
    save_npy(from_doubles(DType::kF32, shape, std::vector<double>(static_cast<size_t>(numel(shape)), 4)), dir / "t.npy");
    EXPECT_EQ(load_tensor(dir / "t.npy").shape(), shape);
  }
}

TEST(TensorIo, Bfloat16IsSavedAsFloat) {
  const TemporaryFolder dir;
  save_npy(from_doubles(DType::kBF16, {2}, {1.5, -3}), dir / "t.npy");
  const Tensor back = load_tensor(dir / "t.npy");
  EXPECT_EQ(back.dtype(), DType::kF32);
  EXPECT_EQ(to_doubles(back), (std::vector<double>{1.5, -3}));
}

TEST(TensorIo, AllNpyVersions) {
  const TemporaryFolder dir;
  for (int version : {1, 2, 3}) {
    dir.write("t.npy", npy(version, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", std::string("\1\0\2\0", 4)));
    EXPECT_EQ(to_ints(load_tensor(dir / "t.npy")), (std::vector<int64_t>{1, 2}));
  }
}

TEST(TensorIo, RefusesWhatItCannotRead) {
  const TemporaryFolder dir;
  const auto says = [&](const std::string& bytes, const std::string& part) {
    const std::string text = complaint(dir.write("t.npy", bytes));
    EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in: " << text;
  };
  const std::string four(4, '\0');
  says("", "empty");
  says("hello", "neither");
  says(npy(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", four), "big-endian");
  says(npy(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", four), "'<c8'");
  says(npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", four), "not supported");
  says(npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", four), "ascontiguousarray");
  says(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", four), "needs 8 bytes");
  says(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", four), "damaged shape");
  says(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", four), "impossible");
  says(npy(1, "{'descr': '<f4', 'fortran_order': False}", four), "no 'shape'");
  says(npy(9, "{}", four), "version 9");
}

TEST(TensorIo, TruncatedAnywhere) {
  const TemporaryFolder dir;
  const std::string whole = npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", std::string(8, '\1'));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(complaint(dir.write("t.npy", whole.substr(0, n))), "") << n;
}

TEST(TensorIo, ReadsOnnxTensors) {
  const TemporaryFolder dir;
  onnx::TensorProto t;
  t.set_data_type(onnx::TensorProto::INT64);
  t.add_dims(2);
  t.add_int64_data(5);
  t.add_int64_data(-6);
  EXPECT_EQ(to_ints(load_tensor(dir.write("input_0.pb", t.SerializeAsString()))), (std::vector<int64_t>{5, -6}));
  t.set_data_type(onnx::TensorProto::STRING);
  EXPECT_NE(complaint(dir.write("input_0.pb", t.SerializeAsString())).find("string"), std::string::npos);
}

TEST(TensorIo, AMissingFileIsAnIoError) {
  try {
    load_tensor("/nonexistent/t.npy");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kIo);
  }
}

}  // namespace
}  // namespace amdahl

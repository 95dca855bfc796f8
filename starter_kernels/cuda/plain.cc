// How an NVIDIA card computes the plain kind (starter_kernels/kinds/plain.cc).

#include "starter_kernels/kinds/plain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/one_word.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

constexpr size_t kMostInCode = 16;            // numbers of an array that is a function; a longer one lies in constant memory
constexpr size_t kMostConstants = 60 * 1024;  // bytes: a card has 64 KiB, and tables of launches lie there too

// Numbers as literals of one type of 4 or 8 bytes.
struct Numbers {
  std::vector<std::string> literals;
  std::string type;
  size_t size = 4;

  bool is_one() const {
    return std::all_of(literals.begin(), literals.end(), [&](const std::string& s) { return s == literals[0]; });
  }
  bool is_table() const { return literals.size() > kMostInCode && !is_one(); }
  size_t table_bytes() const { return is_table() ? literals.size() * size : 0; }
};

Numbers numbers_of(const std::vector<int64_t>& values) {
  Numbers n{{}, "int64_t", 8};
  if (std::all_of(values.begin(), values.end(), [](int64_t v) { return v == static_cast<int32_t>(v); })) n = {{}, "int", 4};
  for (int64_t v : values) n.literals.push_back(fmt::format("{}", v));
  return n;
}

Numbers numbers_of(const Json& value) {
  if (value.is_array()) return numbers_of(value.get<std::vector<int64_t>>());
  Numbers n{{}, "float", 4};
  for (const Json& number : value.at("float")) n.literals.push_back(float_text(number_of(number)));
  return n;
}

// `NAME(i)`: the compiler sees through a few numbers, wherever it knows i.
std::string array_text(const std::string& name, const Numbers& n) {
  const std::string type = n.type == "float" ? "float" : "int64_t", constant = n.type == "float" ? "" : "constexpr ";  // a NaN is no constant expression
  if (n.is_table())
    return fmt::format("__constant__ const {} table_of_{}[] = {{{}}};\nstatic inline {} {}(int64_t i) {{ return table_of_{}[i]; }}\n", n.type, name,
                       fmt::join(n.literals, ", "), type, name, name);
  std::string value;
  for (size_t i = 0; !n.is_one() && i + 1 < n.literals.size(); ++i) value += fmt::format("i == {} ? {} : ", i, n.literals[i]);
  return fmt::format("static inline {}{} {}(int64_t i) {{ return {}{}; }}\n", constant, type, name, value, n.literals.empty() ? "0" : n.literals.back());
}

// A text chooses its launches by integers, which the preprocessor must know: macros.
std::string constant_text(const std::string& name, const Json& value) {
  if (value.is_number_integer()) return fmt::format("#define {} ({}ll)\n", name, value.get<int64_t>());
  return array_text(name, numbers_of(value));
}

// Storage types as the text sees them. bf16 has no C type here: such operands are refused at lowering.
std::string operand_text(const std::string& name, const Access& access) {
  return fmt::format("typedef {} {}_t;\n#define {}_RANK {}\n#define {}_SIZE ({}ll)\n", c_type(access.dtype), name, name, access.shape.size(), name,
                     numel(access.shape)) +
         array_text(name + "_SHAPE", numbers_of(access.shape));
}

size_t table_bytes(const Problem& problem) {
  const PlainParams params = PlainParams::of(problem);
  size_t bytes = 0;
  for (const auto& [_, value] : params.constants.items())
    if (!value.is_number_integer()) bytes += numbers_of(value).table_bytes();
  return bytes;
}

// What several operators share.
std::string before(const std::string& operation) {
  if (operation != "arg_extreme" && operation != "hardmax") return "";
  return join_text({std::string(cuda_text("plain_lines.h")), std::string(cuda_text("rows.h")), std::string(cuda_text("plain_best.h"))});
}
std::string after(const std::string& operation) { return operation.starts_with("scatter") ? std::string(cuda_text("plain_scatter.h")) : ""; }

class PlainOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPlain; }

  SearchSpace space(const Problem& problem, const DeviceInfo&) const override {
    return {{{"THREADS", {64, 128, 256, 512}, 256, "threads of a block"}},
            [bytes = table_bytes(problem)](const Knobs&) {
              return bytes > kMostConstants ? fmt::format("the operator's tables take {} bytes of constant memory, and {} are there", bytes, kMostConstants)
                                            : "";
            },
            {}};
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& p = variant.problem;
    const PlainParams params = PlainParams::of(p);
    const std::string& operation = one_word(params.source);
    std::string constants;
    for (size_t i = 0; i < p.in.size(); ++i) constants += operand_text(fmt::format("IN{}", i), p.in[i]);
    for (size_t i = 0; i < p.out.size(); ++i) constants += operand_text(fmt::format("OUT{}", i), p.out[i]);
    for (const auto& [key, value] : params.constants.items()) constants += constant_text(one_word(key), value);
    return join_text({cuda_opening(p), cuda_sizes({{"THREADS", variant.knobs.at("THREADS")}}), constants, std::string(cuda_text("plain_common.h")),
                      before(operation), std::string(cuda_text(fmt::format("plain_{}.cu", operation))), after(operation)});
  }
};

}  // namespace

const KernelImplementation* plain_on_cuda() {
  static const PlainOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

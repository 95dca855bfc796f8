#pragma once
// What a kernel computes, as data: operands with their layouts, and parameters of the kind. Everything here is known when
// the kernel is compiled; a Problem and a set of knobs determine the source text.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/dtype.h"

namespace amdahl {

using Json = nlohmann::json;

// How a kernel sees one operand: element (i0, i1, …) of `shape` is at base[offset + Σ i_k * strides[k]], in elements.
// Stride 0 is a broadcast. Transposes, slices and head splits are strides and offsets, not copies.
struct Access {
  DType dtype = DType::kF32;
  Shape shape;
  Shape strides;
  int64_t offset = 0;
  bool constant = false;  // a weight: the same bytes at every call, may be packed once at load

  static Access dense(DType dtype, Shape shape, bool constant = false);  // row-major
  bool is_dense() const;                                                 // row-major without offset
};

// A straight-line program over scalars, applied at every point of an index space: pointwise kernels, and the prologue and
// epilogue of the others. Values are numbered: 0 … inputs-1 are the program's inputs, then one per op.
// Types: each op states the dtype of its result; arithmetic on floats is fp32 (f16/bf16 are storage only).
struct PointwiseOp {
  std::string op;         // an ONNX operator in lower case ("add", "erf", "where", "cast") or "const"; pointwise.h lists them
  std::vector<int> args;  // numbers of earlier values
  DType type = DType::kF32;
  double imm = 0;       // "const": the value; "leakyrelu", "elu", …: alpha
  double imm2 = 0;      // second parameter ("hardsigmoid" beta, "selu" gamma)
  int64_t imm_int = 0;  // "const" of an integer type
};
struct PointwiseProgram {
  int inputs = 0;
  std::vector<DType> input_types;
  std::vector<PointwiseOp> ops;
  std::vector<int> results;  // value numbers, one per output

  bool empty() const { return ops.empty(); }
};

// Operands of every kind: in[0 … base-1] are the kind's own (documented in its header comment), in[base …] are the extra
// inputs of the epilogue (below). A kind without epilogue has none.
//
// `params` is how parameters are stored. A kind's own are a struct in its header (`AttentionParams::of(problem)` reads, `.write(problem)` sets
// them and leaves the others); those that kinds share are the functions below, and formats.h. Nobody else names a key (tests/house_test.cc): each is
// in sessions, and in what a problem's kernels are found by.
struct Problem {
  std::string kind;
  std::vector<Access> in, out;
  Json params = Json::object();
  int threads = 1;

  std::string canonical() const;  // stable text: equal problems, equal text
};

// What is applied to the raw result, its input 0; its inputs 1… are the problem's last ones, each an Access over the output's shape. Of kinds whose
// traits say `has_epilogue`, and fused_mlp; nullopt (the default): the raw result is the output.
std::optional<PointwiseProgram> epilogue_of(const Problem& problem);
bool has_epilogue(const Problem& problem);
void set_epilogue(Problem& problem, const std::optional<PointwiseProgram>& epilogue);  // of the parameters; operands are the caller's
size_t epilogue_extras(const Problem& problem);                                        // inputs of the problem that only the epilogue reads

// What makes the input, of in[0 … prologue_inputs - 1]. Of kinds whose traits say `has_expression`, pointwise apart; nullopt (the default): in[0] is
// the input.
std::optional<PointwiseProgram> prologue_of(const Problem& problem);
bool has_prologue(const Problem& problem);
void set_prologue(Problem& problem, const PointwiseProgram& prologue);
size_t prologue_inputs(const Problem& problem);  // 1 without

// An algorithm that rounds more than the operations it stands for; the judge knows each by name (tuner/validation/declared.h). "" (the default):
// none. "bf16": operands of products are rounded to bfloat16, sums stay in fp32. "strassen", "strassen2": seven products of halves, 49 of quarters;
// "bf16_strassen", "bf16_strassen2": of halves or quarters whose sums are rounded to bfloat16. "winograd_f23", "winograd_f43": a convolution's.
std::string declared_algorithm(const Problem& problem);
void declare_algorithm(Problem& problem, const std::string& name);
bool multiplies_in_bf16(const Problem& problem);
int strassen_levels(const Problem& problem);  // 0: sums as they are written

using Knobs = std::map<std::string, int64_t>;

// One concrete kernel: what (problem), how (knobs), and with which extra flags. Everything that changes the
// bits, except the compiler's version and the target, which the build cache adds.
struct Variant {
  Problem problem;
  Knobs knobs;
  std::string compiler = "g++";    // the only one; older sessions may name another, which builds nothing
  std::vector<std::string> flags;  // added after the common flags
  std::string source_override;     // not empty: this text instead of the generated one (an edited kernel)

  std::string id() const;  // hash
};

void to_json(Json& j, const Access& a);
void from_json(const Json& j, Access& a);
void to_json(Json& j, const PointwiseOp& op);
void from_json(const Json& j, PointwiseOp& op);
void to_json(Json& j, const PointwiseProgram& p);
void from_json(const Json& j, PointwiseProgram& p);
void to_json(Json& j, const Problem& p);
void from_json(const Json& j, Problem& p);
void to_json(Json& j, const Variant& v);
void from_json(const Json& j, Variant& v);

}  // namespace amdahl

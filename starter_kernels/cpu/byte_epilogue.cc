#include "starter_kernels/cpu/byte_epilogue.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// {0}, {1}: operands, of floats and of int32.
const std::map<std::string, std::string, std::less<>> kFloatForms{{"add", "{0} + {1}"}, {"sub", "{0} - {1}"}, {"mul", "{0} * {1}"},
                                                                  {"div", "{0} / {1}"}, {"neg", "-{0}"},      {"identity", "{0}"}};
const std::map<std::string, std::string, std::less<>> kVectorForms{{"relu", "larger(Floats{{}}, {0})"}, {"round", "rounded({0})"}};
const std::map<std::string, char, std::less<>> kIntegerForms{{"add", '+'}, {"sub", '-'}, {"mul", '*'}};

class Emitter {
 public:
  Emitter(const Problem& problem, size_t base) : problem_(problem), base_(base), program_(*epilogue_of(problem)) {
    for (size_t d = 0; d < problem.out[0].shape.size(); ++d) indices_.push_back(fmt::format("i{}", d));
  }

  std::optional<std::string> text() {
    values_.push_back({"sum", program_.input_types.at(0), false});
    for (size_t k = base_; k < problem_.in.size(); ++k)
      if (!add_input(k)) return std::nullopt;
    for (const PointwiseOp& op : program_.ops)
      if (!add(op)) return std::nullopt;
    const DType out = problem_.out[0].dtype;
    const Value& result = values_.at(static_cast<size_t>(program_.results[0]));
    if (result.is_of_row || (out != result.type)) return std::nullopt;
    std::string parameters;
    for (const std::string& index : indices_) parameters += ", [[maybe_unused]] int64_t " + index;
    const char* type = out == DType::kF32 ? "Floats" : "Ints";
    return fmt::format(
        "#define VECTOR_EPILOGUE\nstruct RowValues {{\n{}}};\nINLINE RowValues row_values([[maybe_unused]] const void* const* in{}) {{\n  RowValues "
        "row{{}};\n{}  return "
        "row;\n}}\nINLINE {} finish_vector(Ints sum, [[maybe_unused]] const RowValues& row, [[maybe_unused]] const void* const* in{}) {{\n{}  return {};\n}}\n",
        fields_, parameters, row_, type, parameters, vector_, result.name);
  }

 private:
  struct Value {
    std::string name;  // "row.v3" of one number along a row
    DType type;
    bool is_of_row;
  };

  static bool is_known(DType type) { return type == DType::kF32 || type == DType::kI32 || is_byte(type); }

  bool add_input(size_t k) {
    const Access& access = problem_.in[k];
    if (!is_known(access.dtype)) return false;
    const std::string first = emit_load(access, fmt::format("in[{}]", k), indices_);
    if (access.shape.back() == 1 || access.strides.back() == 0) return define(access.dtype, true, first);
    return access.strides.back() == 1 && define(access.dtype, false, fmt::format("read_vector(&{})", first));
  }

  bool define(DType type, bool is_of_row, const std::string& expression) {
    const std::string name = fmt::format("v{}", values_.size());
    if (is_of_row) {
      fields_ += fmt::format("  {} {};\n", register_type(type), name);
      row_ += fmt::format("  row.{} = {};\n", name, expression);
    } else {
      vector_ += fmt::format("  const {} {} = {};\n", type == DType::kF32 ? "Floats" : "Ints", name, expression);
    }
    values_.push_back({is_of_row ? "row." + name : name, type, is_of_row});
    return true;
  }

  // As an operand among vectors: one number in all lanes.
  std::string operand(int v, bool among_vectors) const {
    const Value& value = values_[static_cast<size_t>(v)];
    if (!value.is_of_row || !among_vectors) return value.name;
    return value.type == DType::kF32 ? fmt::format("({} - Floats{{}})", value.name) : fmt::format("(int32_t({}) - Ints{{}})", value.name);
  }

  std::optional<double> constant(int v) const {
    const int k = v - program_.inputs;
    return k >= 0 && program_.ops[static_cast<size_t>(k)].op == "const" ? std::optional(program_.ops[static_cast<size_t>(k)].imm) : std::nullopt;
  }

  bool add(const PointwiseOp& op) {
    if (!is_known(op.type)) return false;
    if (op.op == "const") return define(op.type, true, op.type == DType::kF32 ? float_text(op.imm) : std::to_string(op.imm_int));
    bool of_row = true;
    for (int v : op.args) of_row = of_row && values_[static_cast<size_t>(v)].is_of_row;
    std::vector<std::string> args;
    for (int v : op.args) args.push_back(operand(v, !of_row));
    const DType from = values_[static_cast<size_t>(op.args.at(0))].type;
    const std::optional<std::string> expression = op.op == "cast"          ? cast_text(op, from, args[0], of_row)
                                                  : op.type == DType::kF32 ? float_form(op, args, of_row)
                                                  : op.type == DType::kI32 ? integer_form(op, args, of_row)
                                                                           : std::nullopt;
    return expression && define(op.type, of_row, *expression);
  }

  std::optional<std::string> float_form(const PointwiseOp& op, const std::vector<std::string>& args, bool of_row) const {
    const std::string second = args.size() > 1 ? args[1] : "";
    if (op.op == "reciprocal" && of_row) return "1 / " + args[0];
    if (const auto form = kFloatForms.find(op.op); form != kFloatForms.end()) return fmt::format(fmt::runtime(form->second), args[0], second);
    if (of_row) return std::nullopt;
    if (const auto form = kVectorForms.find(op.op); form != kVectorForms.end()) return fmt::format(fmt::runtime(form->second), args[0]);
    // A limit that is no number would have to be the result.
    if (op.op == "clip" && constant(op.args[1]) && constant(op.args[2])) return fmt::format("smaller({}, larger({}, {}))", args[2], args[1], args[0]);
    return std::nullopt;
  }

  static std::optional<std::string> integer_form(const PointwiseOp& op, const std::vector<std::string>& args, bool of_row) {
    const auto form = kIntegerForms.find(op.op);
    if (form == kIntegerForms.end()) return std::nullopt;
    const auto [whole, bits] = of_row ? std::pair("int32_t", "uint32_t") : std::pair("Ints", "UnsignedInts");
    return fmt::format("({0})(({1}){2} {3} ({1}){4})", whole, bits, args[0], form->second, args[1]);
  }

  // Of floats bytes are made where they were clipped to them.
  std::optional<std::string> cast_text(const PointwiseOp& op, DType from, const std::string& x, bool of_row) const {
    if (op.type == from) return x;
    if (op.type == DType::kF32) return of_row ? "(float)" + x : "floats_of(" + x + ")";
    if (op.type == DType::kI32 && from != DType::kF32) return of_row ? "(int32_t)" + x : x;
    if (of_row || from != DType::kF32 || !is_byte(op.type)) return std::nullopt;
    const int k = op.args[0] - program_.inputs;
    if (k < 0 || program_.ops[static_cast<size_t>(k)].op != "clip") return std::nullopt;
    const PointwiseOp& clip = program_.ops[static_cast<size_t>(k)];
    const double least = op.type == DType::kU8 ? 0 : -128;
    const auto low = constant(clip.args[1]), high = constant(clip.args[2]);
    if (!low || !high || !(*low >= least) || !(*high <= least + 255)) return std::nullopt;
    return "ints_of(" + x + ")";
  }

  const Problem& problem_;
  size_t base_;
  PointwiseProgram program_;
  std::vector<std::string> indices_;
  std::vector<Value> values_;
  std::string fields_, row_, vector_;
};

}  // namespace

std::optional<std::string> emit_byte_epilogue(const Problem& problem, size_t base) {
  const auto program = epilogue_of(problem);
  if (!program || program->input_types.at(0) != DType::kI32) return std::nullopt;
  return Emitter(problem, base).text();
}

}  // namespace amdahl

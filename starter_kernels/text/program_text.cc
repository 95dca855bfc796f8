#include "starter_kernels/text/program_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/text/number_text.h"

namespace amdahl {
namespace {

struct DTypeText {
  const char* memory;
  const char* in_register;
};
// In the order of DType. Half floats are computed in float; bool is a C bool in registers, one byte 0/1 in memory.
constexpr DTypeText kTypes[] = {{"float", "float"},       {"double", "double"},     {"_Float16", "float"},  {"uint16_t", "float"},  {"int8_t", "int8_t"},
                                {"int16_t", "int16_t"},   {"int32_t", "int32_t"},   {"int64_t", "int64_t"}, {"uint8_t", "uint8_t"}, {"uint16_t", "uint16_t"},
                                {"uint32_t", "uint32_t"}, {"uint64_t", "uint64_t"}, {"uint8_t", "bool"}};

// {0} {1} {2}: arguments; {T}: type of the result; {A}: type of argument 0; {a} {b}: imm and imm2 as literals of {T}.
struct OpText {
  const char* op;
  const char* floating;
  const char* integer;  // nullptr: the same as floating
};
constexpr OpText kOps[] = {
    {"identity", "{0}", nullptr},
    {"add", "{0} + {1}", "({T})((uint64_t){0} + (uint64_t){1})"},
    {"sub", "{0} - {1}", "({T})((uint64_t){0} - (uint64_t){1})"},
    {"mul", "{0} * {1}", "({T})((uint64_t){0} * (uint64_t){1})"},
    {"div", "{0} / {1}", "scalar::div_int({0}, {1})"},
    {"neg", "-{0}", "({T})(0 - (uint64_t){0})"},
    {"abs", "scalar::abs({0})", "scalar::abs_int({0})"},
    {"sign", "scalar::sign({0})", nullptr},
    {"reciprocal", "1 / {0}", nullptr},
    {"sqrt", "scalar::sqrt({0})", nullptr},
    {"pow_half", "scalar::pow_half({0})", nullptr},
    {"floor", "scalar::floor({0})", "{0}"},
    {"ceil", "scalar::ceil({0})", "{0}"},
    {"round", "scalar::round({0})", "{0}"},
    {"exp", "scalar::exp({0})", nullptr},
    {"log", "scalar::log({0})", nullptr},
    {"sin", "scalar::sin({0})", nullptr},
    {"cos", "scalar::cos({0})", nullptr},
    {"tan", "scalar::tan({0})", nullptr},
    {"asin", "scalar::asin({0})", nullptr},
    {"acos", "scalar::acos({0})", nullptr},
    {"atan", "scalar::atan({0})", nullptr},
    {"sinh", "scalar::sinh({0})", nullptr},
    {"cosh", "scalar::cosh({0})", nullptr},
    {"asinh", "scalar::asinh({0})", nullptr},
    {"acosh", "scalar::acosh({0})", nullptr},
    {"atanh", "scalar::atanh({0})", nullptr},
    {"tanh", "scalar::tanh({0})", nullptr},
    {"erf", "scalar::erf({0})", nullptr},
    {"sigmoid", "scalar::sigmoid({0})", nullptr},
    {"relu", "scalar::relu({0})", nullptr},
    {"leakyrelu", "{0} < 0 ? {a} * {0} : {0}", nullptr},
    {"prelu", "{0} < 0 ? ({T})({1} * {0}) : {0}", nullptr},
    {"elu", "scalar::elu({0}, {a})", nullptr},
    {"celu", "scalar::celu({0}, {a})", nullptr},
    {"selu", "scalar::selu({0}, {a}, {b})", nullptr},
    {"softplus", "scalar::softplus({0})", nullptr},
    {"softsign", "scalar::softsign({0})", nullptr},
    {"hardsigmoid", "scalar::hardsigmoid({0}, {a}, {b})", nullptr},
    {"hardswish", "scalar::hardswish({0})", nullptr},
    {"thresholdedrelu", "{0} > {a} ? {0} : 0", nullptr},
    {"shrink", "scalar::shrink({0}, {a}, {b})", nullptr},
    {"gelu", "scalar::gelu({0})", nullptr},
    {"gelu_tanh", "scalar::gelu_tanh({0})", nullptr},
    {"gelu_product", "scalar::gelu_product({0})", nullptr},
    {"gelu_tanh_product", "scalar::gelu_tanh_product({0})", nullptr},
    {"swish_product", "scalar::swish_product({0})", nullptr},
    {"swish", "scalar::swish({0}, {a})", nullptr},
    {"mish", "scalar::mish({0})", nullptr},
    {"clip", "scalar::clip({0}, {1}, {2})", nullptr},
    {"max", "scalar::max({0}, {1})", nullptr},
    {"min", "scalar::min({0}, {1})", nullptr},
    {"pow", "scalar::pow({0}, {1})", "scalar::pow_int({0}, {1})"},
    {"mod", "scalar::mod({0}, {1})", "scalar::mod_int({0}, {1})"},
    {"fmod", "scalar::fmod({0}, {1})", "scalar::fmod_int({0}, {1})"},
    {"where", "{0} ? {1} : {2}", nullptr},
    {"equal", "{0} == {1}", nullptr},
    {"less", "{0} < {1}", nullptr},
    {"lessorequal", "{0} <= {1}", nullptr},
    {"greater", "{0} > {1}", nullptr},
    {"greaterorequal", "{0} >= {1}", nullptr},
    {"isnan", "{0} != {0}", nullptr},
    {"isinf", "scalar::abs({0}) == __builtin_inff()", nullptr},
    {"isinf_positive", "{0} == __builtin_inff()", nullptr},
    {"isinf_negative", "{0} == -__builtin_inff()", nullptr},
    // On bool operands & | ^ are the logical ones.
    {"and", "{0} & {1}", nullptr},
    {"or", "{0} | {1}", nullptr},
    {"xor", "{0} ^ {1}", nullptr},
    {"not", "!{0}", nullptr},
    {"bitwiseand", "({T})({0} & {1})", nullptr},
    {"bitwiseor", "({T})({0} | {1})", nullptr},
    {"bitwisexor", "({T})({0} ^ {1})", nullptr},
    {"bitwisenot", "({T})~{0}", nullptr},
    {"bitshift_left", "scalar::shift_left({0}, {1})", nullptr},
    {"bitshift_right", "scalar::shift_right({0}, {1})", nullptr},
};

std::string literal(double value, DType type) { return type == DType::kF64 ? double_text(value) : float_text(value); }

std::string constant_text(const PointwiseOp& op) {
  if (is_float(op.type)) return literal(op.imm, op.type);
  if (op.type == DType::kBool) return op.imm_int != 0 ? "true" : "false";
  return fmt::format("({}){}ull", register_type(op.type), static_cast<uint64_t>(op.imm_int));
}

std::string cast_text(const std::string& x, DType from, DType to) {
  if (to == DType::kBool) return x + " != 0";
  if (to == DType::kF16) return is_float(from) ? "scalar::round_f16(" + x + ")" : "scalar::round_f16((float)" + x + ")";
  if (to == DType::kBF16) return "scalar::round_bf16((float)" + x + ")";
  if (!is_float(to) && is_float(from)) return fmt::format("scalar::to_int<{}>({})", register_type(to), x);
  return fmt::format("({}){}", register_type(to), x);
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) text.replace(at, what.size(), with);
}

std::string op_text(const PointwiseOp& op, const std::vector<std::string>& args, const std::vector<DType>& types) {
  if (op.op == "const") return constant_text(op);
  if (op.op == "cast") return cast_text(args.at(0), types.at(0), op.type);
  for (const OpText& row : kOps) {
    if (op.op != row.op) continue;
    std::string text = !types.empty() && !is_float(types[0]) && row.integer ? row.integer : row.floating;
    replace_all(text, "{T}", register_type(op.type));
    replace_all(text, "{a}", literal(op.imm, op.type));
    replace_all(text, "{b}", literal(op.imm2, op.type));
    for (size_t i = 0; i < args.size(); ++i) replace_all(text, fmt::format("{{{}}}", i), args[i]);
    return text;
  }
  throw Error(ExitCode::kInternal, fmt::format("unknown pointwise operation '{}'", op.op));
}

}  // namespace

std::string c_type(DType dtype) { return kTypes[static_cast<size_t>(dtype)].memory; }
std::string register_type(DType dtype) { return kTypes[static_cast<size_t>(dtype)].in_register; }

std::string load_text(DType dtype, const std::string& element) {
  if (dtype == DType::kBF16) return "scalar::from_bf16(" + element + ")";
  if (dtype == DType::kF16) return "(float)" + element;
  if (dtype == DType::kBool) return "(" + element + " != 0)";
  return element;
}

std::string store_text(DType dtype, const std::string& value) {
  if (dtype == DType::kBF16) return "scalar::to_bf16(" + value + ")";
  return fmt::format("({})({})", c_type(dtype), value);
}

std::string emit_program(const PointwiseProgram& program, std::string_view name) {
  const auto value_name = [&](int v) { return fmt::format("{}{}", v < program.inputs ? 'x' : 'v', v); };
  std::vector<std::string> parameters;
  for (int i = 0; i < program.inputs; ++i) parameters.push_back(fmt::format("{} x{}", register_type(type_of_value(program, i)), i));
  const bool single = program.results.size() == 1;
  std::string body;
  for (size_t k = 0; k < program.ops.size(); ++k) {
    const PointwiseOp& op = program.ops[k];
    std::vector<std::string> args;
    std::vector<DType> types;
    for (int a : op.args) {
      args.push_back(value_name(a));
      types.push_back(type_of_value(program, a));
    }
    body += fmt::format("  const {} {} = {};\n", register_type(op.type), value_name(program.inputs + static_cast<int>(k)), op_text(op, args, types));
  }
  for (size_t r = 0; r < program.results.size(); ++r) {
    const std::string value = value_name(program.results[r]);
    body += single ? fmt::format("  return {};\n", value) : fmt::format("  *r{} = {};\n", r, value);
    if (!single) parameters.push_back(fmt::format("{}* r{}", register_type(type_of_value(program, program.results[r])), r));
  }
  std::string list;
  for (const std::string& p : parameters) list += (list.empty() ? "" : ", ") + p;
  const std::string result = single ? register_type(type_of_value(program, program.results[0])) : "void";
  return fmt::format("static inline __attribute__((always_inline)) {} {}({}) {{\n{}}}\n", result, name, list, body);
}

std::string emit_load(const Access& access, const std::string& pointer, const std::vector<std::string>& indices) {
  std::string index = access.offset || access.shape.empty() ? std::to_string(access.offset) : "";
  for (size_t d = 0; d < access.shape.size(); ++d) {
    if (access.strides[d] == 0 || access.shape[d] == 1) continue;
    if (!index.empty()) index += " + ";
    index += access.strides[d] == 1 ? indices.at(d) : fmt::format("({}) * {}", indices.at(d), access.strides[d]);
  }
  if (index.empty()) index = "0";
  return load_text(access.dtype, fmt::format("((const {}*){})[{}]", c_type(access.dtype), pointer, index));
}

std::string emit_epilogue(const Problem& problem, size_t base) {
  const Access& out = problem.out.at(0);
  const std::optional<PointwiseProgram> program = epilogue_of(problem);
  const bool has = program.has_value();
  const DType raw = has ? program->input_types.at(0) : out.dtype;
  std::string text = fmt::format("constexpr bool HAS_EPILOGUE = {};\n", has);
  if (has) text += emit_program(*program, "epilogue_program");
  std::vector<std::string> indices;
  text += fmt::format("static inline __attribute__((always_inline)) {} epilogue({} acc, const void* const* in", c_type(out.dtype), register_type(raw));
  for (size_t d = 0; d < out.shape.size(); ++d) {
    indices.push_back(fmt::format("i{}", d));
    text += fmt::format(", int64_t i{}", d);
  }
  text += ") {\n";
  std::string value = "acc";
  if (has) {
    value = "epilogue_program(acc";
    for (size_t k = base; k < problem.in.size(); ++k) value += ", " + emit_load(problem.in[k], fmt::format("in[{}]", k), indices);
    value += ")";
  }
  return text + fmt::format("  return {};\n}}\n", store_text(out.dtype, value));
}

}  // namespace amdahl

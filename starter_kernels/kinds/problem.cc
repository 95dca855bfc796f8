#include "starter_kernels/kinds/problem.h"

#include "base/hash.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/param_json.h"

namespace amdahl {

Access Access::dense(DType dtype, Shape shape, bool constant) {
  Shape strides = row_major_strides(shape);
  return {dtype, std::move(shape), std::move(strides), 0, constant};
}

bool Access::is_dense() const {
  if (offset != 0) return false;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

void to_json(Json& j, const Access& a) {
  j = Json{{"dtype", name_of(a.dtype)}, {"shape", a.shape}, {"strides", a.strides}};
  if (a.offset) j["offset"] = a.offset;
  if (a.constant) j["constant"] = true;
}
void from_json(const Json& j, Access& a) {
  a.dtype = dtype_from_name(j.at("dtype").get<std::string>());
  a.shape = j.at("shape").get<Shape>();
  a.strides = j.at("strides").get<Shape>();
  a.offset = j.value("offset", int64_t{0});
  a.constant = j.value("constant", false);
}

void to_json(Json& j, const PointwiseOp& op) {
  j = Json{{"op", op.op}, {"args", op.args}, {"type", name_of(op.type)}};
  if (op.imm != 0 || std::signbit(op.imm)) j["imm"] = number_json(op.imm);
  if (op.imm2 != 0 || std::signbit(op.imm2)) j["imm2"] = number_json(op.imm2);
  if (op.imm_int != 0) j["imm_int"] = op.imm_int;
}
void from_json(const Json& j, PointwiseOp& op) {
  const auto number = [&](const char* key) { return j.contains(key) ? number_of(j[key]) : 0.0; };
  op.op = j.at("op");
  op.args = j.at("args").get<std::vector<int>>();
  op.type = dtype_from_name(j.at("type").get<std::string>());
  op.imm = number("imm");
  op.imm2 = number("imm2");
  op.imm_int = j.value("imm_int", int64_t{0});
}

void to_json(Json& j, const PointwiseProgram& p) {
  std::vector<std::string> types;
  for (DType t : p.input_types) types.emplace_back(name_of(t));
  j = Json{{"inputs", p.inputs}, {"input_types", types}, {"ops", p.ops}, {"results", p.results}};
}
void from_json(const Json& j, PointwiseProgram& p) {
  p.inputs = j.at("inputs");
  p.input_types.clear();
  for (const auto& t : j.at("input_types")) p.input_types.push_back(dtype_from_name(t.get<std::string>()));
  p.ops = j.at("ops").get<std::vector<PointwiseOp>>();
  p.results = j.at("results").get<std::vector<int>>();
}

void to_json(Json& j, const Problem& p) { j = Json{{"kind", p.kind}, {"in", p.in}, {"out", p.out}, {"params", p.params}, {"threads", p.threads}}; }
void from_json(const Json& j, Problem& p) {
  p.kind = j.at("kind");
  p.in = j.at("in").get<std::vector<Access>>();
  p.out = j.at("out").get<std::vector<Access>>();
  p.params = j.at("params");
  p.threads = j.at("threads");
}

void to_json(Json& j, const Variant& v) {
  j = Json{{"problem", v.problem}, {"knobs", v.knobs}, {"compiler", v.compiler}, {"flags", v.flags}};
  if (!v.source_override.empty()) j["source_override"] = v.source_override;
}
void from_json(const Json& j, Variant& v) {
  v.problem = j.at("problem").get<Problem>();
  v.knobs = j.at("knobs").get<Knobs>();
  v.compiler = j.at("compiler");
  v.flags = j.at("flags").get<std::vector<std::string>>();
  v.source_override = j.value("source_override", "");
}

namespace {

constexpr const char* kEpilogue = "epilogue";
constexpr const char* kPrologue = "prologue";
constexpr const char* kDeclared = "declared";

std::optional<PointwiseProgram> program_at(const Problem& problem, const char* key) {
  const auto found = problem.params.find(key);
  if (found == problem.params.end()) return std::nullopt;
  return found->get<PointwiseProgram>();
}

// What is given for a program that is absent.
size_t inputs_at(const Problem& problem, const char* key, size_t absent) {
  const auto found = problem.params.find(key);
  return found == problem.params.end() ? absent : found->at("inputs").get<size_t>();
}

}  // namespace

std::optional<PointwiseProgram> epilogue_of(const Problem& problem) { return program_at(problem, kEpilogue); }
bool has_epilogue(const Problem& problem) { return problem.params.contains(kEpilogue); }
void set_epilogue(Problem& problem, const std::optional<PointwiseProgram>& epilogue) {
  put_param(problem.params, kEpilogue, epilogue.has_value(), epilogue ? Json(*epilogue) : Json());
}
size_t epilogue_extras(const Problem& problem) { return inputs_at(problem, kEpilogue, 1) - 1; }

std::optional<PointwiseProgram> prologue_of(const Problem& problem) { return program_at(problem, kPrologue); }
bool has_prologue(const Problem& problem) { return problem.params.contains(kPrologue); }
void set_prologue(Problem& problem, const PointwiseProgram& prologue) { problem.params[kPrologue] = prologue; }
size_t prologue_inputs(const Problem& problem) { return inputs_at(problem, kPrologue, 1); }

std::string declared_algorithm(const Problem& problem) { return problem.params.value(kDeclared, ""); }
void declare_algorithm(Problem& problem, const std::string& name) { put_param(problem.params, kDeclared, !name.empty(), name); }
bool multiplies_in_bf16(const Problem& problem) { return declared_algorithm(problem).starts_with("bf16"); }
int strassen_levels(const Problem& problem) {
  const std::string declared = declared_algorithm(problem);
  return declared.ends_with("strassen") ? 1 : declared.ends_with("strassen2") ? 2 : 0;
}

std::string Problem::canonical() const { return Json(*this).dump(); }
std::string Variant::id() const { return hash_hex(Json(*this).dump()); }

}  // namespace amdahl

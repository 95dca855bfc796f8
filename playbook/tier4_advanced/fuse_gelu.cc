// Activations written out in primitive operators are computed in their closed form:
//   x/2 (1 + erf(x / sqrt 2)) and x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) are GELU.
// The tanh form becomes x / (1 + exp(-2u)): one division and no cancellation; the other x times the share of a normal distribution below x. Where the tanh
// form's numbers are not GELU's own, as half floats round them, it is x sigmoid(2u) with the numbers that stand there; the other is GELU of a multiple of x.
// Works on the program of a pointwise step, and on prologues and epilogues. (SiLU is closed by every fusion: simplify().)
#include <cmath>

#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

bool near(double a, double b) { return std::fabs(a - b) <= 2e-6 * std::fabs(b); }

// A product: a constant times other values.
struct Product {
  double factor = 1;
  std::vector<int> values;
};

class Finder {
 public:
  explicit Finder(const PointwiseProgram& program) : p_(program) {}

  // Operations, to stand in op number k's place, the last of which computes the same in closed form; none where there is no such form.
  std::vector<PointwiseOp> closed_form(size_t k) const {
    const int v = p_.inputs + static_cast<int>(k);
    const DType type = p_.ops[k].type;
    if (!is_float(type) || p_.ops[k].op != "mul") return {};
    const Product y = product(v);
    if (y.values.size() != 2) return {};
    for (int i : {0, 1}) {
      const int x = y.values[static_cast<size_t>(i)], gate = y.values[static_cast<size_t>(1 - i)];
      if (!near(y.factor, 0.5)) continue;
      const int curve = one_plus(gate);
      if (curve < 0) continue;
      if (is(curve, "erf")) {
        const Product z = product(op(curve)->args[0]);
        if (z.values != std::vector<int>{x}) continue;
        if (near(z.factor, std::sqrt(0.5))) return {PointwiseOp{"gelu_product", {x}, type}};
        if (std::fabs(z.factor / std::sqrt(0.5) - 1) < 0.01) return gelu_of_multiple(z.factor / std::sqrt(0.5), x, v, type);
      }
      if (!is(curve, "tanh")) continue;
      const std::optional<Cubic> u = cubic(op(curve)->args[0], x);
      if (!u) continue;
      if (near(u->factor, std::sqrt(2 / M_PI)) && near(u->of_cube, 0.044715)) return {PointwiseOp{"gelu_tanh_product", {x}, type}};
      return gate_of_cubic(*u, x, v, type);
    }
    return {};
  }

 private:
  const PointwiseOp* op(int v) const { return v < p_.inputs ? nullptr : &p_.ops[static_cast<size_t>(v - p_.inputs)]; }
  bool is(int v, const char* name) const { return op(v) && op(v)->op == name; }
  std::optional<double> constant(int v) const {
    if (!is(v, "const") || !is_float(op(v)->type)) return std::nullopt;
    return op(v)->imm;
  }

  Product product(int v) const {
    if (const auto c = constant(v)) return {*c, {}};
    if (is(v, "mul")) {
      Product a = product(op(v)->args[0]);
      const Product b = product(op(v)->args[1]);
      a.factor *= b.factor;
      a.values.insert(a.values.end(), b.values.begin(), b.values.end());
      return a;
    }
    if (is(v, "div"))
      if (const auto c = constant(op(v)->args[1])) {
        Product a = product(op(v)->args[0]);
        a.factor /= *c;
        return a;
      }
    return {1, {v}};
  }

  // c of 1 + c, or -1.
  int one_plus(int v) const {
    if (!is(v, "add")) return -1;
    for (size_t i : {0u, 1u})
      if (constant(op(v)->args[i]) == 1.0) return op(v)->args[1 - i];
    return -1;
  }

  // factor (x + of_cube x^3)
  struct Cubic {
    double factor, of_cube;
  };
  std::optional<Cubic> cubic(int v, int x) const {
    const Product u = product(v);
    if (u.values.size() != 1 || !is(u.values[0], "add")) return std::nullopt;
    for (size_t i : {0u, 1u}) {
      const Product linear = product(op(u.values[0])->args[i]), cube = product(op(u.values[0])->args[1 - i]);
      if (linear.factor == 1 && linear.values == std::vector<int>{x} && cube.values == std::vector<int>{x, x, x}) return Cubic{u.factor, cube.factor};
    }
    return std::nullopt;
  }
  // x times the share of a normal distribution below `factor` x; its first operation has number `first`.
  static std::vector<PointwiseOp> gelu_of_multiple(double factor, int x, int first, DType type) {
    return {{"const", {}, type, factor},
            {"mul", {x, first}, type},
            {"gelu_product", {first + 1}, type},
            {"const", {}, type, 1 / factor},
            {"mul", {first + 2, first + 3}, type}};
  }
  // x sigmoid(x (2 factor + 2 factor of_cube x^2)); its first operation has number `first`.
  static std::vector<PointwiseOp> gate_of_cubic(const Cubic& u, int x, int first, DType type) {
    return {{"mul", {x, x}, type},
            {"const", {}, type, 2 * u.factor * u.of_cube},
            {"mul", {first, first + 1}, type},
            {"const", {}, type, 2 * u.factor},
            {"add", {first + 2, first + 3}, type},
            {"mul", {x, first + 4}, type},
            {"sigmoid", {first + 5}, type},
            {"mul", {x, first + 6}, type}};
  }

  const PointwiseProgram& p_;
};

// `ops` instead of op number k; what follows it counts on.
void put_instead(PointwiseProgram& program, size_t k, const std::vector<PointwiseOp>& ops) {
  const int value = program.inputs + static_cast<int>(k), more = static_cast<int>(ops.size()) - 1;
  const auto moved = [&](int v) { return v >= value ? v + more : v; };
  for (size_t later = k + 1; later < program.ops.size(); ++later)
    for (int& a : program.ops[later].args) a = moved(a);
  for (int& r : program.results) r = moved(r);
  program.ops.erase(program.ops.begin() + static_cast<int64_t>(k));
  program.ops.insert(program.ops.begin() + static_cast<int64_t>(k), ops.begin(), ops.end());
}

// Whether anything was found; operations that nobody needs any more are dropped.
bool close_forms(PointwiseProgram& program) {
  bool changed = false;
  for (size_t k = 0; k < program.ops.size(); ++k) {
    const std::vector<PointwiseOp> found = Finder(program).closed_form(k);
    if (found.empty()) continue;
    put_instead(program, k, found);
    k += found.size() - 1;
    changed = true;
  }
  if (!changed) return false;
  Expression e{std::move(program), {}, {}};
  for (int i = 0; i < e.program.inputs; ++i) {  // operands that are all different: none is merged
    e.from.push_back({i, ""});
    e.access.push_back({});
  }
  simplify(e);
  program = std::move(e.program);
  return true;
}

// Forms in every program of a problem; whether there were any. A program that would read other inputs stays as it is.
bool close_forms_of(Problem& problem) {
  const auto closed = [](PointwiseProgram& program) {
    const int inputs = program.inputs;
    return close_forms(program) && program.inputs == inputs;
  };
  bool changed = false;
  if (problem.kind == kind::kPointwise)
    if (PointwiseParams params = PointwiseParams::of(problem); closed(params.program)) params.write(problem), changed = true;
  if (auto prologue = prologue_of(problem); prologue && closed(*prologue)) set_prologue(problem, *prologue), changed = true;
  if (auto epilogue = epilogue_of(problem); epilogue && closed(*epilogue)) set_epilogue(problem, epilogue), changed = true;
  return changed;
}

class FuseGelu final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "fuse_gelu"; }
  std::string_view target() const override { return "pointwise, prologues, epilogues"; }
  std::string_view precondition() const override { return "GELU written out within one fused expression"; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    Step step = context.plan.steps[static_cast<size_t>(anchor)];
    if (!step.variant.source_override.empty() || !close_forms_of(step.variant.problem)) {
      if (refusal) *refusal = "no GELU in primitive form";
      return std::nullopt;
    }
    return match_of(context, {anchor}, std::move(step));
  }
};

}  // namespace

const Rewrite* fuse_gelu() {
  static const FuseGelu rewrite;
  return &rewrite;
}

}  // namespace amdahl

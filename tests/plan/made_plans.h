#pragma once
// Plans of the kinds and forms that no single node lowers to, made by hand so that tests below the playbook reach them:
// steps on channel blocks between two reorders, two products with an activation between as one fused_mlp, three convolutions as one inverted_residual,
// attention to keys in two tensors.

#include <optional>
#include <string>
#include <vector>

#include "base/machine.h"
#include "starter_kernels/cpu/byte_products.h"
#include "starter_kernels/cpu/conv_algorithms.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/cpu/matmul_bf16.h"
#include "starter_kernels/cpu/matmul_strassen.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/fused_mlp.h"
#include "starter_kernels/kinds/inverted_residual.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/rotary_embedding.h"
#include "tests/plan/kernel_bench.h"
#include "tests/starter_kernels/appended_keys.h"

namespace amdahl::testing {

inline const std::string kBlocks = blocked_format(this_machine());

inline Step reorder_step(const Graph& graph, ValueId value, const std::string& from, const std::string& to, int threads) {
  Step step;
  step.inputs = {{value, from}};
  step.outputs = {{value, to}};
  Problem& problem = step.variant.problem;
  problem.kind = "reorder";
  problem.threads = threads;
  problem.in = problem.out = {Access::dense(graph.value(value).dtype, graph.value(value).shape)};
  set_formats(problem, {from}, {to});
  return step;
}

// The example's first step on blocks, or nothing when its kind has no such form. `plain_input`: x stays row-major.
inline std::optional<Plan> on_blocks(const Graph& graph, bool plain_input) {
  Plan plan = starter_plan(graph, 2, cpu_target());
  Step step = plan.steps.at(0);
  if (step.variant.problem.out[0].shape.size() != 4) return std::nullopt;
  step.outputs[0].format = kBlocks;
  if (!plain_input) step.inputs[0].format = kBlocks;
  Problem& problem = step.variant.problem;
  set_formats(problem, {plain_input ? "" : kBlocks}, {kBlocks});
  const SearchSpace space = cpu_target().space(problem);
  step.variant.knobs = space.starters();
  if (!space.refuse(step.variant.knobs).empty()) return std::nullopt;
  plan.steps.clear();
  if (!plain_input) plan.steps.push_back(reorder_step(graph, step.inputs[0].value, "", kBlocks, 2));
  plan.steps.push_back(step);
  plan.steps.push_back(reorder_step(graph, step.outputs[0].value, kBlocks, "", 2));
  return plan;
}

// A 1x1 convolution on blocks that ends with bias, residual and clamp: of `outputs` channels from `in`.
inline Case clamped_conv_on_blocks(const Shape& in, int64_t outputs) {
  ExampleGraph g("conv, bias, residual, clamp");
  const ValueId x = g.input(in), residual = g.input({in[0], outputs, in[2], in[3]});
  const ValueId y = g.node("Conv", {x, g.normal({outputs, in[1], 1, 1}, 1, 0, 1 / std::sqrt(static_cast<double>(in[1]))), g.normal({outputs}, 2)});
  const ValueId clamped = g.node("Clip", {g.node("Add", {y, residual}), g.floats({}, {-0.5}), g.floats({}, {0.75})});
  Case made{"clamped conv on blocks", g.finish({clamped})};
  made.plan = starter_plan(made.graph, 2, cpu_target());
  Step conv = made.plan.steps.at(0);
  const Step add = made.plan.steps.at(1), clip = made.plan.steps.at(2);
  const auto program = [](const Step& step) { return PointwiseParams::of(step.variant.problem).program; };
  Problem& p = conv.variant.problem;
  set_epilogue(p, compose(program(clip), 0, compose(program(add), 0, epilogue_of(p).value())));
  p.in.push_back(Access::dense(DType::kF32, p.out[0].shape));
  set_formats(p, {kBlocks, "", "", kBlocks}, {kBlocks});
  conv.nodes.insert(conv.nodes.end(), {add.nodes[0], clip.nodes[0]});
  conv.inputs[0].format = kBlocks;
  conv.inputs.push_back({residual, kBlocks});
  conv.outputs = {{clamped, kBlocks}};
  conv.variant.knobs = cpu_target().space(p).starters();
  made.plan.steps = {reorder_step(made.graph, x, "", kBlocks, 2), reorder_step(made.graph, residual, "", kBlocks, 2), conv,
                     reorder_step(made.graph, clamped, kBlocks, "", 2)};
  return made;
}

// A product whose epilogue is a bias and then `op`, with `form` in its place where a rewrite would put it. Some tiles are whole.
inline Case product_with(const std::string& op, const ExampleGraph::Attributes& attributes = {}, const std::string& form = "") {
  ExampleGraph g(op + " of a product", 20);
  const ValueId h = g.node("Gemm", {g.input({29, 40}), g.normal({40, 97}, 1, 0, 0.5), g.normal({97}, 2)});
  Case made{op + " of a product " + form, g.finish({g.node(op, {h}, attributes)})};
  made.plan = starter_plan(made.graph, 2, cpu_target());
  Step product = made.plan.steps.at(0);
  const Step activation = made.plan.steps.at(1);
  auto program = compose(PointwiseParams::of(activation.variant.problem).program, 0, epilogue_of(product.variant.problem).value());
  if (!form.empty()) program.ops.back().op = form;
  set_epilogue(product.variant.problem, program);
  product.nodes.push_back(activation.nodes[0]);
  product.outputs = activation.outputs;
  made.plan.steps = {product};
  return made;
}

inline std::vector<Case> products_with_activations() {
  const ExampleGraph::Attributes tanh{{"approximate", std::string("tanh")}};
  return {product_with("Exp"),
          product_with("Sigmoid"),
          product_with("Tanh"),
          product_with("Erf"),
          product_with("Gelu"),
          product_with("Gelu", tanh),
          product_with("Gelu", {}, "gelu_product"),
          product_with("Gelu", tanh, "gelu_tanh_product"),
          product_with("com.microsoft.QuickGelu", {{"alpha", 1.0}}, "swish_product")};
}

// Relu between two products with biases. Sizes are no multiples of any tile; two blocks of the hidden layer.
inline Case fused_mlp_with_biases(const Target& target = cpu_target()) {
  ExampleGraph g("mlp");
  const ValueId x = g.input({29, 20});
  const ValueId h = g.node("Gemm", {x, g.normal({20, 275}, 1), g.normal({275}, 2)});
  const ValueId y = g.node("Gemm", {g.node("Relu", {h}), g.normal({275, 33}, 3), g.normal({33}, 4)});
  Case made{"mlp", g.finish({y})};
  made.plan = starter_plan(made.graph, 2, target);
  const Step first = made.plan.steps.at(0), relu = made.plan.steps.at(1), second = made.plan.steps.at(2);
  const Problem &p = first.variant.problem, &q = second.variant.problem;
  Step fused;
  fused.nodes = {first.nodes[0], relu.nodes[0], second.nodes[0]};
  fused.inputs = {first.inputs[0], first.inputs[1], second.inputs[1], first.inputs[2], second.inputs[2]};
  fused.outputs = second.outputs;
  Variant& variant = fused.variant;
  variant.problem = {"fused_mlp", {p.in[0], p.in[1], q.in[1], p.in[2], q.in[2]}, q.out};
  FusedMlpParams{compose(PointwiseParams::of(relu.variant.problem).program, 0, epilogue_of(p).value())}.write(variant.problem);
  set_epilogue(variant.problem, epilogue_of(q));
  variant.problem.threads = 2;
  variant.knobs = target.space(variant.problem).starters();
  made.plan.steps = {fused};
  return made;
}

// (x W1 * x W_up) W2.
inline Case gated_fused_mlp(const Target& target = cpu_target()) {
  ExampleGraph g("gated mlp");
  const ValueId x = g.input({13, 24});
  const ValueId gate = g.node("MatMul", {x, g.normal({24, 70}, 1)}), up = g.node("MatMul", {x, g.normal({24, 70}, 2)});
  Case made{"gated mlp", g.finish({g.node("MatMul", {g.node("Mul", {gate, up}), g.normal({70, 18}, 3)})})};
  made.plan = starter_plan(made.graph, 2, target);
  const Step first = made.plan.steps.at(0), other = made.plan.steps.at(1), mul = made.plan.steps.at(2), second = made.plan.steps.at(3);
  Step fused;
  fused.nodes = {first.nodes[0], other.nodes[0], mul.nodes[0], second.nodes[0]};
  fused.inputs = {first.inputs[0], first.inputs[1], second.inputs[1], other.inputs[1]};
  fused.outputs = second.outputs;
  const Problem &p = first.variant.problem, &q = second.variant.problem;
  Variant& variant = fused.variant;
  variant.problem = {"fused_mlp", {p.in[0], p.in[1], q.in[1], other.variant.problem.in[1]}, q.out};
  FusedMlpParams{PointwiseParams::of(mul.variant.problem).program, true}.write(variant.problem);
  variant.problem.threads = 2;
  variant.knobs = target.space(variant.problem).starters();
  made.plan.steps = {fused};
  return made;
}

// x * cos + concat(-second half, first half) * sin, of constant tables: where rows hold each angle twice, half of a row is read.
inline Case rope_of_tables(const std::string& name, int64_t positions, bool equal_halves, const Target& target) {
  constexpr int64_t kSize = 128;
  ExampleGraph g(name);
  const ValueId x = g.input({2, 3, positions, kSize});
  const auto table = [&](uint64_t seed) {
    Random random(seed);
    std::vector<double> rows;
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t i = 0; i < (equal_halves ? kSize / 2 : kSize); ++i) rows.push_back(random.normal());
      if (equal_halves) rows.insert(rows.end(), rows.end() - kSize / 2, rows.end());
    }
    return g.floats({positions, kSize}, rows);
  };
  const ValueId cos = table(1), sin = table(2);
  const auto slice = [&](int64_t from, int64_t to) { return g.node("Slice", {x, g.ints({1}, {from}), g.ints({1}, {to}), g.ints({1}, {3}), g.ints({1}, {1})}); };
  const ValueId second = g.node("Neg", {slice(kSize / 2, kSize)}), first = slice(0, kSize / 2);
  const ValueId turned = g.node("Concat", {second, first}, {{"axis", int64_t{-1}}});
  const ValueId y = g.node("Add", {g.node("Mul", {x, cos}), g.node("Mul", {turned, sin})});
  Case made{name, g.finish({y})};
  made.plan = starter_plan(made.graph, 2, target);
  Step step;
  for (size_t n = 0; n < made.graph.nodes.size(); ++n) step.nodes.push_back(static_cast<NodeId>(n));
  step.inputs = {{x, ""}, {cos, ""}, {sin, ""}};
  step.outputs = {{y, ""}};
  Problem& p = step.variant.problem;
  const Shape shape{2, 3, positions, kSize}, angles{2, 3, positions, equal_halves ? kSize / 2 : kSize};
  const Access of_table{DType::kF32, angles, {0, 0, kSize, 1}, 0, true};
  p = {"rotary_embedding", {Access::dense(DType::kF32, shape), of_table, of_table}, {Access::dense(DType::kF32, shape)}};
  RotaryEmbeddingParams params{kSize};
  params.full_cache = !equal_halves;
  params.write(p);
  p.threads = 2;
  step.variant.knobs = target.space(p).starters();
  made.plan.steps = {step};
  return made;
}

// More positions than a run has.
inline std::vector<Case> ropes_of_tables(const Target& target = cpu_target()) {
  return {rope_of_tables("rope of tables with equal halves", 300, true, target), rope_of_tables("rope of tables", 20, false, target)};
}

// Products of examples in bfloat16, and larger ones with several blocks of everything, on AMX or on vectors; none on a machine that multiplies otherwise.
inline std::vector<Case> bf16_cases(bool on_tiles) {
  const DeviceInfo& machine = this_machine();
  if (multiplies_on_tiles(machine) != on_tiles) return {};
  std::vector<Graph> graphs = kernel_kind("matmul").examples();
  const auto product = [&](const char* name, Shape a, Shape b, bool bias) {
    ExampleGraph g(name);
    const ValueId x = g.input(a), w = g.normal(b, graphs.size());
    graphs.push_back(g.finish({bias ? g.node("Gemm", {x, w, g.normal({b[1]}, 5)}) : g.node("MatMul", {x, w})}));
  };
  product("several tiles", {83, 300}, {300, 150}, true);
  product("whole tiles", {64, 512}, {512, 96}, false);
  std::vector<Case> cases;
  for (const Graph& graph : graphs) {
    Case made{graph.name + (on_tiles ? " on tiles" : " on pairs"), graph, starter_plan(graph, 2, cpu_target())};
    Variant& variant = made.plan.steps.at(0).variant;
    if (variant.problem.kind != "matmul" || !refused_in_bf16(variant.problem, machine).empty()) continue;
    declare_algorithm(variant.problem, "bf16");
    variant.knobs = cpu_target().space(variant.problem).starters();
    cases.push_back(std::move(made));
  }
  return cases;
}

inline void declare_halves(Step& step, const std::string& declared) {
  Variant& variant = step.variant;
  declare_algorithm(variant.problem, declared);
  variant.knobs = cpu_target().space(variant.problem).starters();
}

// Products of halves and of quarters, in fp32 or of sums rounded to bfloat16 where vectors multiply those: every size even, every size odd, tails of
// panels, tiles and blocks, an odd number of steps in a block, operands that lie otherwise.
inline std::vector<Case> strassen_cases(bool bf16 = false) {
  if (bf16 && (!this_machine().has("avx512_bf16") || multiplies_on_tiles(this_machine()))) return {};
  std::vector<Graph> graphs;
  const auto product = [&](const char* name, Shape a, Shape b, std::map<std::string, Attribute> attributes, bool bias) {
    ExampleGraph g(name);
    const int64_t n = attributes.count("transB") ? b[0] : b[1];
    const ValueId x = g.input(a), w = g.normal(b, graphs.size());
    if (bias) graphs.push_back(g.finish({g.node("Gemm", {x, w, g.normal({n}, 5)}, std::move(attributes))}));
    else graphs.push_back(g.finish({g.node("MatMul", {x, w})}));
  };
  const Attribute yes = int64_t{1};
  product("even", {64, 512}, {512, 192}, {}, false);
  product("odd, bias", {83, 301}, {301, 151}, {}, true);
  product("rows of several matrices", {3, 13, 130}, {130, 130}, {}, false);
  product("transposed B", {37, 140}, {200, 140}, {{"transB", yes}}, true);
  product("transposed A, scaled", {129, 40}, {129, 133}, {{"transA", yes}, {"alpha", 0.5}}, true);
  product("a column beyond half a panel", {32, 128}, {128, 145}, {}, false);
  product("rows of several passes", {265, 130}, {130, 300}, {}, true);
  std::vector<Case> cases;
  for (const Graph& graph : graphs)
    for (const std::string levels : {"strassen", "strassen2"}) {
      const std::string declared = (bf16 ? "bf16_" : "") + levels;
      Case made{fmt::format("{}, {}", graph.name, declared), graph, starter_plan(graph, 2, cpu_target())};
      declare_halves(made.plan.steps.at(0), declared);
      cases.push_back(std::move(made));
    }
  return cases;
}

// 1x1 convolutions on channel blocks whose products are halved: tails of tiles, panels and groups, each extra operand of an epilogue.
inline std::vector<Case> strassen_conv_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* name, int64_t channels, int64_t outputs, Shape pixels, bool bias) {
    ExampleGraph g(name);
    const ValueId x = g.input({1, channels, pixels[0], pixels[1]}), w = g.normal({outputs, channels, 1, 1}, 1, 0, 0.1);
    const Graph graph = g.finish({bias ? g.node("Conv", {x, w, g.normal({outputs}, 2)}) : g.node("Conv", {x, w})});
    for (const std::string declared : {"strassen", "strassen2"}) {
      Case made{fmt::format("{}, {}", name, declared), graph, on_blocks(graph, false).value()};
      declare_halves(made.plan.steps.at(1), declared);
      cases.push_back(std::move(made));
    }
  };
  add("even", 256, 256, {8, 8}, false);
  add("rows of a last tile, bias", 320, 256, {4, 17}, true);
  add("columns of a last panel", 256, 320, {10, 10}, true);
  add("pixels that a last half lacks, bias", 256, 256, {7, 11}, true);
  Case residual = clamped_conv_on_blocks({1, 128, 6, 6}, 128);
  declare_halves(residual.plan.steps.at(2), "strassen");
  cases.push_back(std::move(residual));
  return cases;
}

// The kind's examples in bytes, with so many steps in an addition; none where this machine has no such instruction.
inline std::vector<Case> cases_of_bytes(const std::string& kind, int64_t steps) {
  std::vector<Case> cases;
  const std::vector<int64_t> known = byte_steps(this_machine());
  if (!std::count(known.begin(), known.end(), steps)) return cases;
  for (const Graph& graph : kernel_kind(kind).examples()) {
    Case made{graph.name, graph, starter_plan(graph, 2, cpu_target())};
    Variant& variant = made.plan.steps.at(0).variant;
    if (!variant.knobs.count("K_STEPS")) continue;
    variant.knobs["K_STEPS"] = steps;
    if (steps == 2 && variant.knobs.count("PACK_A")) variant.knobs["PACK_A"] = 1;
    cases.push_back(std::move(made));
  }
  return cases;
}

inline std::vector<Case> depthwise_cases_of_bytes() {
  std::vector<Case> cases;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    const Plan plan = starter_plan(graph, 2, cpu_target());
    if (plan.steps.at(0).variant.knobs.at("ALGORITHM") == kConvBytesDepthwise) cases.push_back({graph.name, graph, plan});
  }
  return cases;
}

// The convolution followed by pointwise steps that take its result first.
inline Step with_epilogues(Step conv, const std::vector<Step>& steps) {
  Problem& p = conv.variant.problem;
  for (const Step& step : steps) {
    const Problem& q = step.variant.problem;
    set_epilogue(p, compose(PointwiseParams::of(q).program, 0, epilogue_of(p).value()));
    p.in.insert(p.in.end(), q.in.begin() + 1, q.in.end());
    conv.inputs.insert(conv.inputs.end(), step.inputs.begin() + 1, step.inputs.end());
    conv.nodes.insert(conv.nodes.end(), step.nodes.begin(), step.nodes.end());
    conv.outputs = step.outputs;
  }
  return conv;
}

// In `format`: 1x1 to `wide` channels and a clamp, depthwise `taps` x `taps` and a ReLU, 1x1 to `outputs` and perhaps x on top: one kernel.
inline Case inverted_residual(const std::string& name, const Shape& in, int64_t wide, int64_t outputs, int64_t taps, int64_t stride, int64_t pad, bool residual,
                              const Target& target, const std::string& format) {
  ExampleGraph g(name);
  const ValueId x = g.input(in);
  const auto conv = [&](ValueId from, const Shape& w, ExampleGraph::Attributes attributes) {
    const double deviation = 1 / std::sqrt(static_cast<double>(w[1] * w[2] * w[3]));
    return g.node("Conv", {from, g.normal(w, static_cast<uint64_t>(w[0] + w[2]), 0, deviation), g.normal({w[0]}, 2)}, std::move(attributes));
  };
  const ValueId widened = g.node("Clip", {conv(x, {wide, in[1], 1, 1}, {}), g.floats({}, {-0.5}), g.floats({}, {0.75})});
  const ExampleGraph::Attributes window{{"group", wide}, {"strides", std::vector<int64_t>{stride, stride}}, {"pads", std::vector<int64_t>{pad, pad, pad, pad}}};
  const ValueId y = conv(g.node("Relu", {conv(widened, {wide, 1, taps, taps}, window)}), {outputs, wide, 1, 1}, {});
  Case made{name, g.finish({residual ? g.node("Add", {y, x}) : y})};
  made.plan = starter_plan(made.graph, 2, target);
  const std::vector<Step> steps = made.plan.steps;
  Step expand = with_epilogues(steps.at(0), {steps.at(1)}), depthwise = with_epilogues(steps.at(2), {steps.at(3)}), project = steps.at(4);
  if (residual) project = with_epilogues(project, {steps.at(5)});
  for (Step* step : {&expand, &depthwise, &project}) {
    std::vector<std::string> formats(step->inputs.size());
    formats[0] = format;
    if (step == &project && residual) formats.back() = format;
    set_formats(step->variant.problem, formats, {format});
    for (size_t i = 0; i < formats.size(); ++i) step->inputs[i].format = formats[i];
    step->outputs[0].format = format;
  }
  Step fused;
  fused.inputs = {expand.inputs[0], expand.inputs[1], depthwise.inputs[1], project.inputs[1]};
  for (const Step* step : {&expand, &depthwise, &project}) {
    fused.inputs.insert(fused.inputs.end(), step->inputs.begin() + 2, step->inputs.end());
    fused.nodes.insert(fused.nodes.end(), step->nodes.begin(), step->nodes.end());
  }
  fused.outputs = project.outputs;
  fused.variant.problem = inverted_residual_problem(expand.variant.problem, depthwise.variant.problem, project.variant.problem);
  fused.variant.knobs = target.space(fused.variant.problem).starters();
  made.plan.steps = {fused};
  if (!format.empty()) made.plan.steps = {reorder_step(made.graph, x, "", format, 2), fused, reorder_step(made.graph, fused.outputs[0].value, format, "", 2)};
  return made;
}

inline std::vector<Case> inverted_residuals(const Target& target, const std::string& format) {
  return {inverted_residual("residual, half blocks, two images", {2, 20, 9, 11}, 72, 20, 3, 1, 1, true, target, format),
          inverted_residual("five taps, stride two", {1, 16, 12, 13}, 48, 40, 5, 2, 2, false, target, format),
          inverted_residual("no padding, strides that leave rows out", {1, 8, 11, 37}, 20, 12, 2, 3, 0, false, target, format)};
}

inline std::vector<Case> attention_to_appended_keys(const Target& target) {
  std::vector<Case> cases;
  for (const AppendedKeys& keys : appended_keys()) {
    AppendedKeysProblem made = problem_of(keys);
    Step step;
    for (size_t n = 0; n < made.graph.nodes.size(); ++n)
      if (!is_renaming(made.graph.nodes[n])) step.nodes.push_back(static_cast<NodeId>(n));
    for (ValueId v : made.inputs) step.inputs.push_back({v, ""});
    step.outputs = {{made.graph.outputs[0], ""}};
    step.variant.problem = made.problem;
    step.variant.knobs = target.space(made.problem).starters();
    cases.push_back({"appended keys: " + keys.name, std::move(made.graph), {{std::move(step)}, 2}});
  }
  return cases;
}

// What no single node lowers to.
inline std::vector<Case> made_of_several(const std::string& kind, const Target& target = cpu_target(), const std::string& format = kBlocks) {
  if (kind == "inverted_residual") return inverted_residuals(target, format);
  if (kind == "fused_mlp") return {fused_mlp_with_biases(target), gated_fused_mlp(target)};
  if (kind == "rotary_embedding") return ropes_of_tables(target);
  if (kind == "attention") return attention_to_appended_keys(target);
  return {};
}

// What a list of mutants is for: a kind, or a form of one that has a text of its own.
inline std::string kind_of(const std::string& form) { return form.rfind("matmul_", 0) == 0 ? "matmul" : form.rfind("conv_", 0) == 0 ? "conv" : form; }

// The kind's examples with their starters, and what rewrites would make of them.
inline std::vector<Case> cases_of(const std::string& kind) {
  std::vector<Case> cases;
  if (kind == "matmul_bf16") cases = bf16_cases(true);
  else if (kind == "matmul_pairs") cases = bf16_cases(false);
  else if (kind == "matmul_strassen") cases = strassen_cases();
  else if (kind == "matmul_strassen_pairs") cases = strassen_cases(true);
  else if (kind == "conv_strassen") cases = strassen_conv_cases();
  else if (kind == "matmul_bytes" || kind == "conv_bytes") cases = cases_of_bytes(kind_of(kind), 2);
  else if (kind == "matmul_fours" || kind == "conv_fours") cases = cases_of_bytes(kind_of(kind), 4);
  else if (kind == "conv_depthwise_bytes") cases = depthwise_cases_of_bytes();
  else
    for (const Graph& graph : kernel_kind(kind).examples()) cases.push_back({graph.name, graph, starter_plan(graph, 2, cpu_target())});
  for (const std::string blocked : {"conv", "pool"})
    if (kind == blocked || kind == "reorder")
      for (const Graph& graph : kernel_kind(blocked).examples())
        if (const auto plan = on_blocks(graph, false)) cases.push_back({graph.name + " on blocks", graph, *plan});
  if (kind == "conv") cases.push_back(clamped_conv_on_blocks({2, 16, 5, 7}, 40));  // the last block of channels is half full
  if (kind == "matmul")
    for (Case& c : products_with_activations()) cases.push_back(std::move(c));
  for (Case& c : made_of_several(kind)) cases.push_back(std::move(c));
  for (size_t c = 0; c < cases.size(); ++c) cases[c].seed = 11 + c;
  return cases;
}

}  // namespace amdahl::testing

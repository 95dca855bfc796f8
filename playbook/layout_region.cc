#include "playbook/layout_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "playbook/fuse_inside.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/pool.h"

namespace amdahl {
namespace {

constexpr int kMaxConvolutions = 6;  // of a stretch: a chain without joins is cut

// What all functions here look at.
struct Carrying {
  const RewriteContext& context;
  const CarriedLayout& layout;

  bool is_image(const Access& a) const { return layout.carries(a.dtype) && a.shape.size() == 4 && numel(a.shape) > 0; }
  // Channels of the last block that no tensor has are zeros.
  bool pads(int64_t channels) const { return layout.pads() && channels % layout.block() != 0; }
  const Step& step(int s) const { return context.plan.steps[static_cast<size_t>(s)]; }
};

// Padding channels stay zero: f(0, …, 0) = 0. True for sums, products and relu; anything else is not looked into.
bool keeps_zero(const PointwiseProgram& program) {
  static const std::set<std::string> known{"add", "sub", "mul", "relu", "neg", "abs", "identity"};
  return std::all_of(program.ops.begin(), program.ops.end(), [](const PointwiseOp& op) { return known.count(op.op) > 0; });
}

enum class Read { kPlain, kCarried, kNot };

// How a step of the region reads an input beside a convolution's x and w: `access` is over the output's shape.
Read read_beside(const Carrying& c, const Operand& operand, const Access& access, const Access& out) {
  Access flat;
  if (!c.layout.carries(access.dtype) || access.shape != out.shape || access.offset != 0 || !fold_spatial(access, &flat)) return Read::kNot;
  if (c.context.graph.is_constant(operand.value)) {
    // Read through its strides, also in the lanes of padding channels unless it has one element for all of them.
    return !c.pads(out.shape[1]) || access.strides[1] == 0 ? Read::kPlain : Read::kNot;
  }
  const Shape& shape = c.context.graph.value(operand.value).shape;
  const Shape one_pixel{out.shape[0], out.shape[1], 1, 1};
  if (shape == out.shape && access.is_dense()) return Read::kCarried;
  const bool by_channel = flat.strides[1] == 1 && flat.strides[2] == 0 && (shape[0] == 1 || flat.strides[0] == shape[1]);
  if (shape == one_pixel && by_channel) return Read::kCarried;
  return Read::kNot;
}

// The image that a model begins with has too few channels for the format: its convolution reads it as it is.
bool is_plain_image(const Carrying& c, const Problem& conv) { return conv.in[0].shape[1] < c.layout.block() && ConvParams::of(conv).group == 1; }

// How each input of a step is read in the region, or nothing when the step cannot be part of one.
std::optional<std::vector<Read>> reads_of(const Carrying& c, const Step& step) {
  const Problem& problem = step.variant.problem;
  if (has_formats(problem) || problem.out.size() != 1 || !c.is_image(problem.out[0])) return std::nullopt;
  for (const Operand& o : step.inputs)
    if (!o.format.empty()) return std::nullopt;
  const Access& out = problem.out[0];
  if (c.context.graph.value(step.outputs[0].value).shape != out.shape || !out.is_dense()) return std::nullopt;
  std::vector<Read> reads(problem.in.size(), Read::kPlain);
  size_t beside = 0;
  if (problem.kind == kind::kConv || problem.kind == kind::kPool) {
    const Access& x = problem.in[0];
    if (!c.is_image(x) || !x.is_dense() || c.context.graph.value(step.inputs[0].value).shape != x.shape) return std::nullopt;
    if (c.context.graph.is_constant(step.inputs[0].value)) return std::nullopt;
    // Where blocks are filled up with zeros such an image is read as it is only if nobody has carried it.
    reads[0] = problem.kind == kind::kConv && is_plain_image(c, problem) && !c.layout.pads() ? Read::kPlain : Read::kCarried;
    beside = problem.kind == kind::kConv ? 2 : 1;
  } else if (problem.kind == kind::kPointwise) {
    if (c.pads(out.shape[1]) && !keeps_zero(PointwiseParams::of(problem).program)) return std::nullopt;
  } else {
    return std::nullopt;
  }
  for (size_t i = beside; i < reads.size(); ++i) {
    reads[i] = read_beside(c, step.inputs[i], problem.in[i], out);
    // The epilogue of a convolution never looks at padding channels: any constant will do.
    Access flat;
    if (reads[i] == Read::kNot && problem.kind == kind::kConv && c.context.graph.is_constant(step.inputs[i].value) && fold_spatial(problem.in[i], &flat))
      reads[i] = Read::kPlain;
    if (reads[i] == Read::kNot) return std::nullopt;
  }
  if (problem.kind == kind::kConv) {
    Problem carried = problem;
    std::vector<std::string> formats(reads.size());
    for (size_t i = 0; i < reads.size(); ++i)
      if (reads[i] == Read::kCarried && (i > 0 || !is_plain_image(c, problem))) formats[i] = c.layout.format();
    set_formats(carried, formats, {c.layout.format()});
    if (!c.layout.computes(carried)) return std::nullopt;
  }
  return reads;
}

struct Region {
  std::set<int> steps;
  std::map<int, std::vector<Read>> reads;
  // Conversions between this region and neighbours that have the format: from it for this region, or to it behind this region.
  std::set<int> conversions;
};

// All steps of `among` (all steps of the plan when empty) that are reached from `anchor` through operands in the format.
Region grow(const Carrying& c, int anchor, std::vector<Read> reads, const std::set<int>& among) {
  Region region;
  std::vector<int> open{anchor};
  region.reads[anchor] = std::move(reads);
  while (!open.empty()) {
    const int s = open.back();
    open.pop_back();
    region.steps.insert(s);
    const auto visit = [&](int neighbour, const Operand& through) {
      if (region.reads.count(neighbour) || (!among.empty() && !among.count(neighbour))) return;
      const Step& step = c.step(neighbour);
      const auto found = reads_of(c, step);
      if (!found) return;
      bool carries = step.outputs[0] == through;
      for (size_t i = 0; i < step.inputs.size(); ++i) carries |= step.inputs[i] == through && (*found)[i] == Read::kCarried;
      if (!carries) return;
      region.reads[neighbour] = *found;
      open.push_back(neighbour);
    };
    const Step& step = c.step(s);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (region.reads[s][i] != Read::kCarried) continue;
      if (const auto writer = c.context.writer.find(step.inputs[i]); writer != c.context.writer.end()) visit(writer->second, step.inputs[i]);
      for (int reader : c.context.readers.at(step.inputs[i])) visit(reader, step.inputs[i]);
    }
    if (const auto readers = c.context.readers.find(step.outputs[0]); readers != c.context.readers.end())
      for (int reader : readers->second) visit(reader, step.outputs[0]);
  }
  return region;
}

// Operands of a step of the region that it reads in the format and whole, beside a convolution's x.
std::set<Operand> whole_operands(const Step& step, const std::vector<Read>& reads) {
  std::set<Operand> whole;
  for (size_t i = step.variant.problem.kind == kind::kConv ? 2 : 0; i < reads.size(); ++i)
    if (reads[i] == Read::kCarried && step.variant.problem.in[i].shape == step.variant.problem.out[0].shape) whole.insert(step.inputs[i]);
  return whole;
}

// What the pointwise steps of the region made `operand` from, if that is one tensor: x and its sigmoid are one branch.
Operand source_of(const Carrying& c, const Region& region, Operand operand) {
  for (;;) {
    const auto writer = c.context.writer.find(operand);
    if (writer == c.context.writer.end() || !region.steps.count(writer->second)) return operand;
    const Step& step = c.step(writer->second);
    const std::set<Operand> whole = whole_operands(step, region.reads.at(writer->second));
    if (step.variant.problem.kind != kind::kPointwise || whole.size() != 1) return operand;
    operand = *whole.begin();
  }
}

// Two branches meet: a residual addition, alone or in a convolution's epilogue.
bool joins(const Carrying& c, const Region& region, int s) {
  const Step& step = c.step(s);
  std::set<Operand> sources;
  for (const Operand& o : whole_operands(step, region.reads.at(s))) sources.insert(source_of(c, region, o));
  return sources.size() + (step.variant.problem.kind == kind::kConv) >= 2;
}

// The region's steps, cut where branches join (activations and poolings that alone read the result belong to the join) and where the next
// convolution would be one too many.
std::vector<std::set<int>> stretches_of(const Carrying& c, const Region& region) {
  std::vector<std::set<int>> stretches(1);
  int convolutions = 0, tail = -1;
  bool closed = false;
  for (int s : region.steps) {
    const Step& step = c.step(s);
    const bool is_conv = step.variant.problem.kind == kind::kConv;
    if ((closed && s != tail) || (is_conv && convolutions == kMaxConvolutions)) {
      stretches.emplace_back();
      convolutions = 0;
      closed = false;
    }
    stretches.back().insert(s);
    convolutions += is_conv;
    if (s != tail && !(convolutions > 0 && joins(c, region, s))) continue;
    closed = true;
    const int next = c.context.sole_consumer(s);
    tail = next >= 0 && c.step(next).variant.problem.kind != kind::kConv ? next : -1;
  }
  return stretches;
}

bool is_conversion(const Step& step, const Operand& from, const Operand& to) {
  return step.variant.problem.kind == kind::kReorder && step.inputs[0] == from && step.outputs[0] == to;
}

void find_conversions(const Carrying& c, Region& region) {
  for (int s : region.steps) {
    const Step& step = c.step(s);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const auto writer = c.context.writer.find(step.inputs[i]);
      if (region.reads.at(s)[i] != Read::kCarried || writer == c.context.writer.end()) continue;
      if (is_conversion(c.step(writer->second), {step.inputs[i].value, c.layout.format()}, step.inputs[i])) region.conversions.insert(writer->second);
      // A neighbour converts the same operand for itself.
      for (int reader : c.context.readers.at(step.inputs[i]))
        if (is_conversion(c.step(reader), step.inputs[i], {step.inputs[i].value, c.layout.format()})) region.conversions.insert(reader);
    }
    const Operand& out = step.outputs[0];
    if (const auto readers = c.context.readers.find(out); readers != c.context.readers.end())
      for (int reader : readers->second)
        if (is_conversion(c.step(reader), out, {out.value, c.layout.format()})) region.conversions.insert(reader);
  }
}

class Builder {
 public:
  // `winograd`: convolutions that it saves a third of begin with it.
  Builder(const Carrying& c, const Region& region, bool winograd) : c_(c), region_(region), winograd_(winograd) {}

  Match build() {
    Match match;
    std::set<int> window = region_.steps;
    window.insert(region_.conversions.begin(), region_.conversions.end());
    match.window.steps.assign(window.begin(), window.end());
    for (int c : region_.conversions) add_conversion(c);
    for (int s : region_.steps) add(s);
    match.replacement = std::move(steps_);
    return match;
  }

 private:
  const Step& step(int s) const { return c_.step(s); }

  bool read_carried(int s, const Operand& operand) const {
    const auto reads = region_.reads.find(s);
    if (reads == region_.reads.end()) return false;
    for (size_t i = 0; i < step(s).inputs.size(); ++i)
      if (step(s).inputs[i] == operand && reads->second[i] != Read::kCarried) return false;
    return true;
  }
  bool wanted_plain(const Operand& operand) const {
    if (c_.context.is_graph_output(operand)) return true;
    const auto readers = c_.context.readers.find(operand);
    if (readers == c_.context.readers.end()) return false;
    return !std::all_of(readers->second.begin(), readers->second.end(), [&](int s) { return read_carried(s, operand) || region_.conversions.count(s) > 0; });
  }

  // From the format: that is read directly; the row-major copy stays while somebody else reads it. To the format: this region
  // makes them, or its own conversion does.
  void add_conversion(int c) {
    const Step& conversion = step(c);
    if (conversion.outputs[0].format == c_.layout.format()) return;
    carried_.insert(conversion.inputs[0].value);
    if (wanted_plain(conversion.outputs[0])) steps_.push_back(conversion);
  }

  void reorder(ValueId value, const std::string& from, const std::string& to) {
    Step conversion;
    conversion.inputs = {{value, from}};
    conversion.outputs = {{value, to}};
    Problem& problem = conversion.variant.problem;
    problem.kind = kind::kReorder;
    problem.threads = c_.context.plan.threads;
    problem.in = problem.out = {Access::dense(c_.context.graph.value(value).dtype, c_.context.graph.value(value).shape)};
    set_formats(problem, {from}, {to});
    conversion.variant.knobs = c_.context.target.space(problem).starters();
    steps_.push_back(std::move(conversion));
  }

  bool reads_plain_image(int s, size_t input) const {
    const Problem& problem = step(s).variant.problem;
    return input == 0 && problem.kind == kind::kConv && is_plain_image(c_, problem) && !carried_.count(step(s).inputs[0].value);
  }

  void add(int s) {
    Step changed = step(s);
    Problem& problem = changed.variant.problem;
    std::vector<std::string> formats(problem.in.size());
    for (size_t i = 0; i < problem.in.size(); ++i) {
      if (region_.reads.at(s)[i] != Read::kCarried || reads_plain_image(s, i)) continue;
      const ValueId value = changed.inputs[i].value;
      if (carried_.insert(value).second) reorder(value, "", c_.layout.format());
      formats[i] = changed.inputs[i].format = c_.layout.format();
    }
    const Operand plain = changed.outputs[0];
    // What a global pooling leaves is small: row-major at once if it is wanted so.
    const bool to_plain = problem.kind == kind::kPool && PoolParams::of(problem).global && wanted_plain(plain);
    if (!to_plain) {
      changed.outputs[0].format = c_.layout.format();
      carried_.insert(plain.value);
    }
    set_formats(problem, formats, {to_plain ? "" : c_.layout.format()});
    if (problem.kind == kind::kConv) c_.layout.choose_algorithm(problem, winograd_);
    changed.variant.source_override.clear();
    changed.variant.knobs = c_.context.target.space(problem).starters();
    steps_.push_back(std::move(changed));
    if (!to_plain && wanted_plain(plain)) reorder(plain.value, c_.layout.format(), "");
  }

  const Carrying& c_;
  const Region& region_;
  bool winograd_;
  std::vector<Step> steps_;
  std::set<ValueId> carried_;
};

// The region in its format with its pointwise steps in the epilogues before them: fused while everything is row-major, then
// carried over. Nothing when a fused step could not be.
std::optional<std::vector<Step>> with_fusions(const Carrying& c, const Region& plain, bool winograd) {
  std::set<int> left;
  const Plan plan = with_epilogues_fused(c.context, plain.steps, &left);
  if (left.size() == plain.steps.size()) return std::nullopt;
  const RewriteContext context = RewriteContext::of(c.context.graph, plan, c.context.target, c.context.uses, c.context.storage);
  const Carrying fused{context, c.layout};
  const int anchor = *std::find_if(left.begin(), left.end(), [&](int s) { return plan.steps[static_cast<size_t>(s)].variant.problem.kind == kind::kConv; });
  auto reads = reads_of(fused, plan.steps[static_cast<size_t>(anchor)]);
  if (!reads) return std::nullopt;
  Region region = grow(fused, anchor, std::move(*reads), left);
  if (region.steps != left) return std::nullopt;
  find_conversions(fused, region);
  return Builder(fused, region, winograd).build().replacement;
}

Match carried(const Carrying& c, const Region& region, bool winograd) {
  Match match = Builder(c, region, winograd).build();
  if (auto fused = with_fusions(c, region, winograd)) match.replacement = std::move(*fused);
  return match;
}

// "", or the convolution that nothing computes in its formats.
std::string not_computed(const Carrying& c, const std::vector<Step>& steps) {
  for (const Step& s : steps)
    if (s.variant.problem.kind == kind::kConv && !c.layout.computes(s.variant.problem)) return "a convolution has no kernel for its operands in this format";
  return "";
}

bool declares_winograd(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) { return declared_algorithm(s.variant.problem).starts_with("winograd"); });
}

}  // namespace

std::optional<Match> carry_layout(const RewriteContext& context, int anchor, const CarriedLayout& layout, std::string* refusal) {
  const Carrying c{context, layout};
  const auto refuse = [&](std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  };
  const Step& step = c.step(anchor);
  if (step.variant.problem.kind != kind::kConv) return refuse("not a convolution");
  const auto reads = reads_of(c, step);
  if (!reads) return refuse("has the format already, or is no two-dimensional convolution with constant weights that a kernel computes in it");
  for (const std::set<int>& stretch : stretches_of(c, grow(c, anchor, *reads, {}))) {
    const auto first = std::find_if(stretch.begin(), stretch.end(), [&](int s) { return c.step(s).variant.problem.kind == kind::kConv; });
    if (!stretch.count(anchor)) continue;
    if (*first != anchor) return refuse(fmt::format("belongs to the stretch of step {}", *first));
    Region region = grow(c, anchor, *reads, stretch);
    find_conversions(c, region);
    Match match = carried(c, region, /*winograd=*/true);
    if (std::string why = not_computed(c, match.replacement); !why.empty()) return refuse(std::move(why));
    // A region is refused as a whole: resnet50's first was, for what Winograd rounds on equal numbers.
    if (declares_winograd(match.replacement)) match.others.push_back(carried(c, region, /*winograd=*/false).replacement);
    return match;
  }
  return refuse("no stretch holds it");
}

}  // namespace amdahl

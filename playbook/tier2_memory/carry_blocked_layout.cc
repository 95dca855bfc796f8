// Channel blocks ("nchw16c", or "nchw8c") carried through a region of convolutions, poolings and pointwise steps: a block's channels
// are the lanes of a vector whatever the width of a row, and a weight vector meets a broadcast of x. Row-major operands are
// converted where the region begins and ends, and nowhere between.
//
// A whole network is too deep for one experiment (derived error bounds grow with every layer until they say nothing), so
// its convolutions are taken in stretches that end where branches join. A stretch beside one that has the layout already
// takes the conversion between them away. What is between convolutions goes into their epilogues, and 3x3 convolutions become
// Winograd's where that takes away most products: one experiment for what would be three, each with a proof of 20 s.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "playbook/fuse_inside.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/conv_algorithms.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/pool.h"

namespace amdahl {
namespace {

constexpr int kMaxConvolutions = 6;  // of a stretch: a chain without joins is cut

std::string format_in(const RewriteContext& context) { return blocked_format(context.target.device); }
int64_t block_in(const RewriteContext& context) { return channel_block(format_in(context)); }

bool is_image(const Access& a) { return a.dtype == DType::kF32 && a.shape.size() == 4 && numel(a.shape) > 0; }

// Padding channels stay zero: f(0, …, 0) = 0. True for sums, products and relu; anything else is not looked into.
bool keeps_zero(const PointwiseProgram& program) {
  static const std::set<std::string> known{"add", "sub", "mul", "relu", "neg", "abs", "identity"};
  return std::all_of(program.ops.begin(), program.ops.end(), [](const PointwiseOp& op) { return known.count(op.op) > 0; });
}

enum class Read { kPlain, kBlocks, kNot };

// How a step of the region reads an input beside a convolution's x and w: `access` is over the output's shape.
Read read_beside(const RewriteContext& context, const Operand& operand, const Access& access, const Access& out) {
  Access flat;
  if (access.dtype != DType::kF32 || access.shape != out.shape || access.offset != 0 || !fold_spatial(access, &flat)) return Read::kNot;
  if (context.graph.is_constant(operand.value)) {
    // Read through its strides, also in the lanes of padding channels unless it has one element for all of them.
    return out.shape[1] % block_in(context) == 0 || access.strides[1] == 0 ? Read::kPlain : Read::kNot;
  }
  const Shape& shape = context.graph.value(operand.value).shape;
  const Shape one_pixel{out.shape[0], out.shape[1], 1, 1};
  if (shape == out.shape && access.is_dense()) return Read::kBlocks;
  const bool by_channel = flat.strides[1] == 1 && flat.strides[2] == 0 && (shape[0] == 1 || flat.strides[0] == shape[1]);
  if (shape == one_pixel && by_channel) return Read::kBlocks;
  return Read::kNot;
}

// How each input of a step is read in the region, or nothing when the step cannot be part of one.
std::optional<std::vector<Read>> reads_of(const RewriteContext& context, const Step& step) {
  const Problem& problem = step.variant.problem;
  if (has_formats(problem) || problem.out.size() != 1 || !is_image(problem.out[0])) return std::nullopt;
  for (const Operand& o : step.inputs)
    if (!o.format.empty()) return std::nullopt;
  const Access& out = problem.out[0];
  if (context.graph.value(step.outputs[0].value).shape != out.shape || !out.is_dense()) return std::nullopt;
  std::vector<Read> reads(problem.in.size(), Read::kPlain);
  size_t beside = 0;
  if (problem.kind == kind::kConv || problem.kind == kind::kPool) {
    const Access& x = problem.in[0];
    if (!is_image(x) || !x.is_dense() || context.graph.value(step.inputs[0].value).shape != x.shape) return std::nullopt;
    if (context.graph.is_constant(step.inputs[0].value)) return std::nullopt;
    reads[0] = Read::kBlocks;
    beside = problem.kind == kind::kConv ? 2 : 1;
  } else if (problem.kind == kind::kPointwise) {
    if (out.shape[1] % block_in(context) != 0 && !keeps_zero(PointwiseParams::of(problem).program)) return std::nullopt;
  } else {
    return std::nullopt;
  }
  for (size_t i = beside; i < reads.size(); ++i) {
    reads[i] = read_beside(context, step.inputs[i], problem.in[i], out);
    // The epilogue of a convolution never looks at padding channels: any constant will do.
    Access flat;
    if (reads[i] == Read::kNot && problem.kind == kind::kConv && context.graph.is_constant(step.inputs[i].value) && fold_spatial(problem.in[i], &flat))
      reads[i] = Read::kPlain;
    if (reads[i] == Read::kNot) return std::nullopt;
  }
  if (problem.kind == kind::kConv) {
    Problem blocked = problem;
    set_formats(blocked, {format_in(context)}, {format_in(context)});
    if (conv_algorithms(blocked, context.target.device).empty()) return std::nullopt;
  }
  return reads;
}

struct Region {
  std::set<int> steps;
  std::map<int, std::vector<Read>> reads;
  // Conversions between this region and neighbours in channel blocks: written from blocks for it, or to blocks after it.
  std::set<int> conversions;
};

// All steps of `among` (all steps of the plan when empty) that are reached from `anchor` through operands in channel blocks.
Region grow(const RewriteContext& context, int anchor, std::vector<Read> reads, const std::set<int>& among) {
  Region region;
  std::vector<int> open{anchor};
  region.reads[anchor] = std::move(reads);
  while (!open.empty()) {
    const int s = open.back();
    open.pop_back();
    region.steps.insert(s);
    const auto visit = [&](int neighbour, const Operand& through) {
      if (region.reads.count(neighbour) || (!among.empty() && !among.count(neighbour))) return;
      const Step& step = context.plan.steps[static_cast<size_t>(neighbour)];
      const auto found = reads_of(context, step);
      if (!found) return;
      bool carries = step.outputs[0] == through;
      for (size_t i = 0; i < step.inputs.size(); ++i) carries |= step.inputs[i] == through && (*found)[i] == Read::kBlocks;
      if (!carries) return;
      region.reads[neighbour] = *found;
      open.push_back(neighbour);
    };
    const Step& step = context.plan.steps[static_cast<size_t>(s)];
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (region.reads[s][i] != Read::kBlocks) continue;
      if (const auto writer = context.writer.find(step.inputs[i]); writer != context.writer.end()) visit(writer->second, step.inputs[i]);
      for (int reader : context.readers.at(step.inputs[i])) visit(reader, step.inputs[i]);
    }
    if (const auto readers = context.readers.find(step.outputs[0]); readers != context.readers.end())
      for (int reader : readers->second) visit(reader, step.outputs[0]);
  }
  return region;
}

// Operands of a step of the region that it reads in channel blocks and whole, beside a convolution's x.
std::set<Operand> whole_operands(const Step& step, const std::vector<Read>& reads) {
  std::set<Operand> whole;
  for (size_t i = step.variant.problem.kind == kind::kConv ? 2 : 0; i < reads.size(); ++i)
    if (reads[i] == Read::kBlocks && step.variant.problem.in[i].shape == step.variant.problem.out[0].shape) whole.insert(step.inputs[i]);
  return whole;
}

// What the pointwise steps of the region made `operand` from, if that is one tensor: x and its sigmoid are one branch.
Operand source_of(const RewriteContext& context, const Region& region, Operand operand) {
  for (;;) {
    const auto writer = context.writer.find(operand);
    if (writer == context.writer.end() || !region.steps.count(writer->second)) return operand;
    const Step& step = context.plan.steps[static_cast<size_t>(writer->second)];
    const std::set<Operand> whole = whole_operands(step, region.reads.at(writer->second));
    if (step.variant.problem.kind != kind::kPointwise || whole.size() != 1) return operand;
    operand = *whole.begin();
  }
}

// Two branches meet: a residual addition, alone or in a convolution's epilogue.
bool joins(const RewriteContext& context, const Region& region, int s) {
  const Step& step = context.plan.steps[static_cast<size_t>(s)];
  std::set<Operand> sources;
  for (const Operand& o : whole_operands(step, region.reads.at(s))) sources.insert(source_of(context, region, o));
  return sources.size() + (step.variant.problem.kind == kind::kConv) >= 2;
}

// The region's steps, cut where branches join (activations and poolings that alone read the result belong to the join) and where the next
// convolution would be one too many.
std::vector<std::set<int>> stretches_of(const RewriteContext& context, const Region& region) {
  std::vector<std::set<int>> stretches(1);
  int convolutions = 0, tail = -1;
  bool closed = false;
  for (int s : region.steps) {
    const Step& step = context.plan.steps[static_cast<size_t>(s)];
    const bool is_conv = step.variant.problem.kind == kind::kConv;
    if ((closed && s != tail) || (is_conv && convolutions == kMaxConvolutions)) {
      stretches.emplace_back();
      convolutions = 0;
      closed = false;
    }
    stretches.back().insert(s);
    convolutions += is_conv;
    if (s != tail && !(convolutions > 0 && joins(context, region, s))) continue;
    closed = true;
    const int next = context.sole_consumer(s);
    tail = next >= 0 && context.plan.steps[static_cast<size_t>(next)].variant.problem.kind != kind::kConv ? next : -1;
  }
  return stretches;
}

bool is_conversion(const Step& step, const Operand& from, const Operand& to) {
  return step.variant.problem.kind == kind::kReorder && step.inputs[0] == from && step.outputs[0] == to;
}

void find_conversions(const RewriteContext& context, Region& region) {
  for (int s : region.steps) {
    const Step& step = context.plan.steps[static_cast<size_t>(s)];
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const auto writer = context.writer.find(step.inputs[i]);
      if (region.reads.at(s)[i] != Read::kBlocks || writer == context.writer.end()) continue;
      if (is_conversion(context.plan.steps[static_cast<size_t>(writer->second)], {step.inputs[i].value, format_in(context)}, step.inputs[i]))
        region.conversions.insert(writer->second);
      // A neighbour converts the same operand for itself.
      for (int reader : context.readers.at(step.inputs[i]))
        if (is_conversion(context.plan.steps[static_cast<size_t>(reader)], step.inputs[i], {step.inputs[i].value, format_in(context)}))
          region.conversions.insert(reader);
    }
    const Operand& out = step.outputs[0];
    if (const auto readers = context.readers.find(out); readers != context.readers.end())
      for (int reader : readers->second)
        if (is_conversion(context.plan.steps[static_cast<size_t>(reader)], out, {out.value, format_in(context)})) region.conversions.insert(reader);
  }
}

class Builder {
 public:
  // `winograd`: convolutions that it saves a third of begin with it.
  Builder(const RewriteContext& context, const Region& region, bool winograd) : context_(context), region_(region), winograd_(winograd) {}

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
  const Step& step(int s) const { return context_.plan.steps[static_cast<size_t>(s)]; }

  bool read_in_blocks(int s, const Operand& operand) const {
    const auto reads = region_.reads.find(s);
    if (reads == region_.reads.end()) return false;
    for (size_t i = 0; i < step(s).inputs.size(); ++i)
      if (step(s).inputs[i] == operand && reads->second[i] != Read::kBlocks) return false;
    return true;
  }
  bool wanted_plain(const Operand& operand) const {
    if (context_.is_graph_output(operand)) return true;
    const auto readers = context_.readers.find(operand);
    if (readers == context_.readers.end()) return false;
    return !std::all_of(readers->second.begin(), readers->second.end(), [&](int s) { return read_in_blocks(s, operand) || region_.conversions.count(s) > 0; });
  }

  // From blocks: those are read directly; the row-major copy stays while somebody else reads it. To blocks: this region
  // makes them, or its own conversion does.
  void add_conversion(int c) {
    const Step& conversion = step(c);
    if (conversion.outputs[0].format == format_in(context_)) return;
    in_blocks_.insert(conversion.inputs[0].value);
    if (wanted_plain(conversion.outputs[0])) steps_.push_back(conversion);
  }

  void reorder(ValueId value, const std::string& from, const std::string& to) {
    Step conversion;
    conversion.inputs = {{value, from}};
    conversion.outputs = {{value, to}};
    Problem& problem = conversion.variant.problem;
    problem.kind = kind::kReorder;
    problem.threads = context_.plan.threads;
    problem.in = problem.out = {Access::dense(DType::kF32, context_.graph.value(value).shape)};
    set_formats(problem, {from}, {to});
    conversion.variant.knobs = context_.target.space(problem).starters();
    steps_.push_back(std::move(conversion));
  }

  // The image that a model begins with has too few channels for a block: its convolution reads it as it is.
  bool reads_plain_image(int s, size_t input) const {
    const Problem& problem = step(s).variant.problem;
    return input == 0 && problem.kind == kind::kConv && problem.in[0].shape[1] < block_in(context_) && ConvParams::of(problem).group == 1 &&
           !in_blocks_.count(step(s).inputs[0].value);
  }

  void add(int s) {
    Step changed = step(s);
    Problem& problem = changed.variant.problem;
    std::vector<std::string> formats(problem.in.size());
    for (size_t i = 0; i < problem.in.size(); ++i) {
      if (region_.reads.at(s)[i] != Read::kBlocks || reads_plain_image(s, i)) continue;
      const ValueId value = changed.inputs[i].value;
      if (in_blocks_.insert(value).second) reorder(value, "", format_in(context_));
      formats[i] = changed.inputs[i].format = format_in(context_);
    }
    const Operand plain = changed.outputs[0];
    // What a global pooling leaves is small: row-major at once if it is wanted so.
    const bool to_plain = problem.kind == kind::kPool && PoolParams::of(problem).global && wanted_plain(plain);
    if (!to_plain) {
      changed.outputs[0].format = format_in(context_);
      in_blocks_.insert(plain.value);
    }
    set_formats(problem, formats, {to_plain ? "" : format_in(context_)});
    if (problem.kind == kind::kConv) choose_winograd(problem);
    changed.variant.source_override.clear();
    changed.variant.knobs = context_.target.space(problem).starters();
    steps_.push_back(std::move(changed));
    if (!to_plain && wanted_plain(plain)) reorder(plain.value, format_in(context_), "");
  }

  // What the search has declared already stays, where blocks allow it.
  void choose_winograd(Problem& problem) const {
    const std::vector<int64_t> algorithms = conv_algorithms(problem, context_.target.device);
    const bool possible = std::count(algorithms.begin(), algorithms.end(), kConvWinograd) > 0;
    if (!possible && declared_algorithm(problem).starts_with("winograd")) declare_algorithm(problem, "");
    if (winograd_ && declared_algorithm(problem).empty() && winograd_saves_a_third(problem, context_.target.device)) declare_algorithm(problem, "winograd_f23");
  }

  const RewriteContext& context_;
  const Region& region_;
  bool winograd_;
  std::vector<Step> steps_;
  std::set<ValueId> in_blocks_;
};

// The region in channel blocks with its pointwise steps in the epilogues before them: fused while everything is row-major, then
// carried over. Nothing when a fused step could not be.
std::optional<std::vector<Step>> with_fusions(const RewriteContext& context, const Region& plain, bool winograd) {
  std::set<int> left;
  const Plan plan = with_epilogues_fused(context, plain.steps, &left);
  if (left.size() == plain.steps.size()) return std::nullopt;
  const RewriteContext fused = RewriteContext::of(context.graph, plan, context.target, context.uses, context.storage);
  const int anchor = *std::find_if(left.begin(), left.end(), [&](int s) { return plan.steps[static_cast<size_t>(s)].variant.problem.kind == kind::kConv; });
  auto reads = reads_of(fused, plan.steps[static_cast<size_t>(anchor)]);
  if (!reads) return std::nullopt;
  Region region = grow(fused, anchor, std::move(*reads), left);
  if (region.steps != left) return std::nullopt;
  find_conversions(fused, region);
  return Builder(fused, region, winograd).build().replacement;
}

Match carried(const RewriteContext& context, const Region& region, bool winograd) {
  Match match = Builder(context, region, winograd).build();
  if (auto fused = with_fusions(context, region, winograd)) match.replacement = std::move(*fused);
  return match;
}

bool declares_winograd(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) { return declared_algorithm(s.variant.problem).starts_with("winograd"); });
}

class CarryBlockedLayout final : public Rewrite {
 public:
  int tier() const override { return 2; }
  std::string_view name() const override { return "carry_blocked_layout"; }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return "conv, with pool and pointwise around it"; }
  std::string_view precondition() const override {
    return "f32 convolutions with constant weights; starts at the first convolution of a stretch between joins";
  }
  bool structural() const override { return true; }
  bool brings_kernels() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (step.variant.problem.kind != kind::kConv) return refuse(refusal, "not a convolution");
    const auto reads = reads_of(context, step);
    if (!reads) return refuse(refusal, "already in channel blocks, or not a two-dimensional f32 convolution with constant weights");
    for (const std::set<int>& stretch : stretches_of(context, grow(context, anchor, *reads, {}))) {
      const auto first =
          std::find_if(stretch.begin(), stretch.end(), [&](int s) { return context.plan.steps[static_cast<size_t>(s)].variant.problem.kind == kind::kConv; });
      if (!stretch.count(anchor)) continue;
      if (*first != anchor) return refuse(refusal, fmt::format("belongs to the stretch of step {}", *first));
      Region region = grow(context, anchor, *reads, stretch);
      find_conversions(context, region);
      Match match = carried(context, region, /*winograd=*/true);
      // A region is refused as a whole: resnet50's first was, for what Winograd rounds on equal numbers.
      if (declares_winograd(match.replacement)) match.others.push_back(carried(context, region, /*winograd=*/false).replacement);
      return match;
    }
    return refuse(refusal, "no stretch holds it");
  }

 private:
  static std::nullopt_t refuse(std::string* refusal, std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  }
};

}  // namespace

const Rewrite* carry_blocked_layout() {
  static const CarryBlockedLayout rewrite;
  return &rewrite;
}

}  // namespace amdahl

#include "graph/ops/batch_norm_training.h"

#include <fmt/format.h>

namespace amdahl {

// X, scale, B, running mean, running variance -> Y, and what these run to.
void write_out_training(Expansion& e) {
  if (e.node.attr_int("training_mode", 0) == 0) return;
  const ValueId x = e.in(0);
  const Shape shape = e.shape(x);
  if (shape.size() < 2) throw Refusal(fmt::format("{} has no channels", to_string(shape)));
  std::vector<int64_t> axes{0};
  Shape spread(shape.size(), 1);
  spread[1] = shape[1];
  for (size_t d = 2; d < shape.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  const ValueId over = e.ints(axes), mean = e.add("ReduceMean", {x, over}), centred = e.add("Sub", {x, mean});
  const ValueId variance = e.add("ReduceMean", {e.add("Mul", {centred, centred}), over});
  const DType type = e.dtype(x);
  const ValueId deviation = e.add("Sqrt", {e.add("Add", {variance, e.scalar(type, e.node.attr_float("epsilon", 1e-5))})});
  const auto of_channels = [&](size_t i) { return e.cast(e.reshape(e.in(i), spread), type); };
  e.set_output(0, e.add("Add", {e.add("Mul", {e.add("Div", {centred, deviation}), of_channels(1)}), of_channels(2)}));
  const double momentum = e.node.attr_float("momentum", 0.9);
  const auto run_on = [&](size_t i, ValueId now) {  // now + momentum (before - now): one constant, which halves would round
    const DType own = e.dtype(e.in(i)), wide = is_half(own) ? DType::kF32 : own;
    now = e.cast(e.reshape(now, {shape[1]}), wide);
    return e.cast(e.add("Add", {now, e.add("Mul", {e.add("Sub", {e.cast(e.in(i), wide), now}), e.scalar(wide, momentum)})}), own);
  };
  if (e.wants_output(1)) e.set_output(1, run_on(3, mean));
  if (e.wants_output(2)) e.set_output(2, run_on(4, variance));
}

}  // namespace amdahl

#include "starter_kernels/text/recurrence_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/recurrence.h"
#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// The parameters are numbers of float (graph/ops/recurrence.h).
std::string activation_text(const RecurrentActivation& a) {
  const std::string alpha = "real" + float_text(a.alpha), beta = "real" + float_text(a.beta);
  if (a.name == "affine") return fmt::format("{} * x + {}", alpha, beta);
  if (a.name == "leakyrelu") return fmt::format("x < real(0) ? {} * x : x", alpha);
  if (a.name == "thresholdedrelu") return fmt::format("x >= {} ? x : real(0)", alpha);
  if (a.name == "scaledtanh") return fmt::format("{} * scalar::tanh({} * x)", alpha, beta);
  if (a.name == "hardsigmoid") return fmt::format("scalar::hardsigmoid(x, {}, {})", alpha, beta);
  if (a.name == "elu") return fmt::format("scalar::elu(x, {})", alpha);
  for (const char* plain : {"sigmoid", "tanh", "relu", "softsign", "softplus"})
    if (a.name == plain) return fmt::format("scalar::{}(x)", plain);
  throw Error(ExitCode::kInternal, "unknown activation '" + a.name + "' in a problem");
}

std::string activations_text(const RecurrenceParams& params, int64_t directions) {
  const size_t each = params.activations.size() / static_cast<size_t>(directions);
  std::string text;
  for (size_t i = 0; i < 3; ++i) {
    std::string body = "x";
    if (i < each) body = activation_text(params.activations[i]);
    if (i < each && directions == 2 && params.activations[i] != params.activations[each + i])
      body = fmt::format("d == 0 ? real({}) : real({})", body, activation_text(params.activations[each + i]));
    text += fmt::format("SCALAR real act_{}([[maybe_unused]] int64_t d, real x) {{ return {}; }}\n", "fgh"[i], body);
  }
  return text;
}

constexpr const char* kPlaces = R"(// What row b sees at step t; -1: the row has ended.
static inline int64_t position(const void* const* in, int64_t d, int64_t t, int64_t b) {
  int64_t length = LENGTH;
  if (IN_LENGTHS >= 0) {
    const int64_t given = (int64_t)((const length_t*)in[IN_LENGTHS > 0 ? IN_LENGTHS : 0])[b];
    length = given < 0 ? 0 : given > LENGTH ? LENGTH : given;
  }
  return t >= length ? -1 : is_reversed(d) ? length - 1 - t : t;
}
static inline int64_t x_row(int64_t t, int64_t b) { return BATCH_FIRST ? b * LENGTH + t : t * BATCH + b; }
static inline int64_t y_row(int64_t t, int64_t d, int64_t b) {
  return (BATCH_FIRST ? (b * LENGTH + t) * DIRECTIONS + d : (t * DIRECTIONS + d) * BATCH + b) * HIDDEN;
}
static inline int64_t state_row(int64_t d, int64_t b) { return (BATCH_FIRST ? b * DIRECTIONS + d : d * BATCH + b) * HIDDEN; }
)";

}  // namespace

std::vector<std::pair<std::string, int64_t>> recurrence_sizes(const Problem& problem) {
  const RecurrenceSizes s(problem);
  const RecurrenceParams p = RecurrenceParams::of(problem);
  return {{"LENGTH", s.steps},
          {"BATCH", s.batch},
          {"INPUT", s.input},
          {"HIDDEN", s.hidden},
          {"DIRECTIONS", s.directions},
          {"GATES", s.gates},
          {"CELL", static_cast<char>(p.cell)},
          {"BATCH_FIRST", p.batch_first},
          {"LINEAR_BEFORE_RESET", p.linear_before_reset},
          {"INPUT_FORGET", p.input_forget},
          {"IN_B", p.input_at('b')},
          {"IN_LENGTHS", p.input_at('l')},
          {"IN_H", p.input_at('h')},
          {"IN_C", p.input_at('c')},
          {"IN_P", p.input_at('p')},
          {"OUT_Y", p.output_at('y')},
          {"OUT_H", p.output_at('h')},
          {"OUT_C", p.output_at('c')}};
}

std::string recurrence_functions_text(const Problem& problem) {
  const RecurrenceParams p = RecurrenceParams::of(problem);
  const DType type = problem.in[0].dtype;
  const int64_t lengths = p.input_at('l'), directions = RecurrenceSizes(problem).directions;
  std::string text = fmt::format("typedef {} real;\ntypedef {} value_t;\ntypedef {} length_t;\n", register_type(accumulator_of(type)), c_type(type),
                                 lengths < 0 ? "int32_t" : c_type(problem.in[static_cast<size_t>(lengths)].dtype));
  text += fmt::format("SCALAR real to_real(value_t x) {{ return {}; }}\nSCALAR value_t to_value(real x) {{ return {}; }}\n", load_text(type, "x"),
                      store_text(type, "x"));
  text += activations_text(p, directions);
  if (p.clip == HUGE_VAL) text += "SCALAR real clipped(real x) { return x; }\n";
  else text += fmt::format("SCALAR real clipped(real x) {{ return scalar::clip(x, real({0}), -real({0})); }}\n", float_text(-p.clip));
  text +=
      fmt::format("static inline bool is_reversed([[maybe_unused]] int64_t d) {{ return {}; }}\n", p.direction == RecurrenceParams::Direction::kBoth ? "d == 1"
                                                                                                   : p.is_reversed(0)                                ? "true"
                                                                                                                                                     : "false");
  return text + kPlaces;
}

}  // namespace amdahl

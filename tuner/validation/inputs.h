#pragma once
// Input and weight tensors from seeds: element i depends on (seed, distribution, i) alone. Only the supervisor makes them; a worker
// sees the numbers, never the seed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/tensor.h"
#include "plan/program.h"

namespace amdahl {

// What floats look like. The order is that of the numerics stage; values travel in requests and seeds in sessions: append.
enum class Distribution : uint8_t {
  kNormal,     // mean 0, deviation 1 (sum of four uniforms: tails end at 3.46)
  kUniform,    // (0, 1): for what is only defined on positive numbers
  kOffset,     // mean 1000, deviation 1: one-pass variance, unshifted softmax
  kLarge,      // deviation 3000: logits of +-1e4
  kHeavyTail,  // Pareto, exponent 2, either sign: one large element among many
  kEqual,      // one number throughout: ties, zero variance
  kInteger,  // odd source: -1, 0 or 1; even source: integers of Draw::integer_bits. With ternary weights, sums are exact in fp32; with roles swapped (Draw::roles_swapped): -1, 0 or 1
  kSpecial,  // normal, with a few NaN, infinities, zeros, denormals and limits of the type; one of each in every tensor (Draw::turn). Of the first
             // input's rows one in sixteen is -infinity throughout, as where nothing is left of what a mask hides
  kNeedle,   // zero but for one element in 64: +-2^e, 0 <= e < 10. What a kernel leaves out is missed
  kAlternate,  // signs alternate, magnitudes in (0.5, 1): sums cancel
  kPowers,     // +-2^e, -12 <= e <= 12
  kExponents,  // either sign, exponents uniform over all of the type's, denormals too; five rows in eight of one exponent throughout, of either sign or positive, or
               // all zeros. Rows lie along the last dimension, or another, or all from one on
  kWide,       // the same over the third of them around 1: squares and sums of products stay within the type
  kLimits,  // normal, with zeros, denormals and the type's limits in every tensor (Draw::turn), all finite: rows of a reduction say more
};
std::string_view name_of(Distribution distribution);

// How seeded weights are distributed. What is timed has normal ones; the others check, mostly beside inputs that let single weights be seen.
enum class Weights : uint8_t {
  kNormal,    // with the buffer's mean and deviation
  kSparse,    // the same, but seven in eight are zero
  kConstant,  // one number throughout
  kWide,      // times 2^e, -24 <= e <= 4: tiny beside huge, whatever is scaled together
  kDenormal,  // below the type's smallest normal number
  kSpecial,   // normal, with specials as in Distribution::kSpecial
};
std::string_view name_of(Weights weights);

// Integer and bool inputs are uniform in [lo, hi): indices within their table, masks of 0 and 1.
struct InputRange {
  int64_t lo = 0, hi = 2;
  bool is_number = false;  // any of its type will do: kLarge, kExponents, kWide, kSpecial and kLimits draw from all of them
  bool from_the_end =
      false;  // positions that may be counted from the end too, -hi being the first: these families, kHeavyTail and kNeedle draw half of them so
};

// One set of inputs and weights.
struct Draw {
  Distribution distribution = Distribution::kNormal;
  uint64_t seed = 1;
  uint64_t weights_seed = 1;
  bool ternary = false;        // weights are -1, 0 and 1
  bool roles_swapped = false;  // of a ternary draw: the weights are the integers, the inputs are -1, 0 and 1
  int integer_bits = 12;       // with the sign beside them; fewer where a narrower type must hold them (declared.h)
  bool perturbed = false;      // one element somewhere inside every input is another than in the same draw without it
  bool infinities_as_nan =
      false;          // and what is near them (2^10): what depends on a value that is or may become not finite is NaN, even where -inf would end as 0
  bool once = false;  // for one candidate alone: its reference is not kept, and the starter was not asked
  int scale = 0;      // float inputs are multiplied by 2^scale
  Weights weights = Weights::kNormal;
  int turn = 0;                     // a tensor of fewer than eight elements a special holds others in each turn: see turns()
  static constexpr int kNear = -1;  // a turn without the largest numbers, which overflow in sums: infinities for them

  bool has_own_weights() const { return ternary || weights != Weights::kNormal; }
};

// Whether inputs or weights may be infinite, or so large that sums of them may.
bool reaches_limits(const Draw& draw);
// Or holds numbers, or weights, of very different magnitudes.
bool reaches_far(const Draw& draw);
// The same for draws that have the same weights.
std::string how_weights_are_drawn(const Draw& draw);
// Draws of kSpecial or kLimits, and of Weights::kSpecial, until a tensor of `n` elements has held each of the specials: one element in eight at most is one.
int turns(int64_t n);

// What an input or a seeded weight holds, row-major. `source` distinguishes tensors of one seed (Program::Buffer::source).
void fill_input(std::byte* data, DType dtype, const Shape& shape, const Draw& draw, int source, const InputRange& range);
// As Draw::weights says, or, in a ternary draw, -1, 0 and 1 in equal parts (exact-integer probes), or with roles swapped the integers.
void fill_weight(std::byte* data, DType dtype, int64_t n, double mean, double deviation, const Draw& draw, int source);

// Written over outputs before a trial: float bits are signalling NaNs, all differ by element and seed.
void poison(std::byte* data, DType dtype, int64_t n, uint64_t seed);
// Elements of a float output whose bits are still the poison's; for other dtypes 0 (any value is plausible there, and a
// stale one differs from the oracle's).
int64_t count_poisoned(const std::byte* data, DType dtype, int64_t n, uint64_t seed);

}  // namespace amdahl

#pragma once
// A card that no machine has, as large as an H100: kernels can be made for it, and compiled where NVRTC is.

#include <string>
#include <utility>
#include <vector>

#include "starter_kernels/cuda/cuda_target.h"

namespace amdahl::testing {

// `architectures`: those that it runs, "sm_80" …, the oldest first.
inline Target absent_card(std::vector<std::string> architectures) {
  DeviceInfo card;
  card.name = "a card that is not here";
  card.features = std::move(architectures);
  card.units = 132;
  card.l1d_bytes = 228 << 10;
  card.l2_bytes = card.l3_bytes = int64_t{50} << 20;
  card.memory_bytes = int64_t{80} << 30;
  return cuda_target(card);
}

// Of compute capability 9.0, which multiplies and copies by what sm_90a has; and of 8.0.
inline const Target& hopper() {
  static const Target card = absent_card({"sm_80", "sm_90", "sm_90a"});
  return card;
}
inline const Target& ampere() {
  static const Target card = absent_card({"sm_80"});
  return card;
}

}  // namespace amdahl::testing

#pragma once
// Where tests build and run texts for cards: the emulated card.

#include "tests/emulated_card/emulated_device.h"
#include "tests/emulated_card/emulated_toolchain.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl::testing {

inline const KernelBench& emulated_bench(Generation generation) {
  static const EmulatedToolchain older(default_cache_dir(), emulated_target(Generation::kSm80)), newer(default_cache_dir(), emulated_target(Generation::kSm90));
  static const KernelBench on_older{older, make_emulated_device}, on_newer{newer, make_emulated_device};
  return generation == Generation::kSm80 ? on_older : on_newer;
}

}  // namespace amdahl::testing

#pragma once
// What a compiled kernel of a card says of itself: the tables of starter_kernels/cuda/kernels/prelude.h, read from the file without loading it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/cuda/boxes.h"

namespace amdahl::cuda {

struct Launch {
  uint32_t kernel = 0;  // the function amdahl_kernel_<kernel>
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t shared_bytes = 0;

  std::string function() const;
};

struct Pack {
  uint64_t bytes = 0;  // of the packed copy; 0: the input is used as it comes
  Launch launch;
};

struct Cubin {
  std::string image;             // the whole file, as the driver loads it
  std::vector<Launch> launches;  // of a call, in order
  std::vector<Pack> packs;       // by input; may be shorter than there are inputs
  std::vector<Boxes> boxes;      // a tensor map each, behind the operands
  uint64_t workspace_bytes = 0;
  bool begins_early = false;  // its kernels wait themselves for those before them (programmatic dependent launch)
};

// Throws Error(kInternal), with the reason, for a file that is none, or lacks a table, or breaks a rule: a kernel keeps nothing in the card's memory
// between calls, so it has no variables there.
Cubin read_cubin(const std::string& path);
// Hash of code and constants: names, paths and notes do not count. "" when the file is no cubin.
std::string cubin_code_hash(const std::string& path);

}  // namespace amdahl::cuda

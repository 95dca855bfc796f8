#pragma once
// Where the numbers in a function's registers may come from, whatever path is taken: a register has the sources of all that is ever put into it.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "starter_kernels/toolchain/ptx_code.h"

namespace amdahl {

// Names of variables and parameters whose address or contents were taken: "table", "k_param_0". Of a parameter that is read at a known place, that place as
// well: "k_param_0+8"; of one whose address was taken and had known numbers added alone, "&k_param_0" or "&k_param_0+16". kMemory: what was read from memory.
using SourceNames = std::set<std::string>;
inline constexpr const char* kMemory = "memory";

class PtxSources {
 public:
  explicit PtxSources(const PtxFunction& function);
  // Of all that a statement names: registers by what is in them, others by themselves.
  SourceNames of(const PtxStatement& statement) const;
  // Of what stands between brackets alone: addresses.
  SourceNames of_addresses(const PtxStatement& statement) const;

 private:
  void follow(const PtxStatement& statement);
  bool is_parameter(const std::string& name) const;
  std::pair<std::string, int> read_parameter(const PtxStatement& statement) const;
  void take(const PtxStatement& statement, size_t from, size_t to, SourceNames* names) const;

  const PtxFunction& function_;
  std::map<std::string, SourceNames> registers_;
  bool changed_ = false;
};

}  // namespace amdahl

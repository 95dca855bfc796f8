#pragma once
// The text of a card's kernel between its compiler and its assembler (PTX ISA): names are spelled out there, whatever macros and templates they came through,
// and what stands in asm() stands in it as it was written.

#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

// "ld.param.u64 %rd1, [k_param_0+8];" as "ld.param.u64" "%rd1" "," "[" "k_param_0" "+" "8" "]"; without labels and guards.
struct PtxStatement {
  std::vector<std::string> words;
  std::vector<std::string> labels;  // that stand before it
  bool guarded = false;             // "@%p1 …": it may be left out
  int line = 1;

  const std::string& first() const { return words[0]; }
};

struct PtxFunction {
  std::string name;
  bool is_kernel = false;
  std::vector<std::string> parameters;
  std::vector<PtxStatement> body;  // blocks in it are not told apart
};

struct PtxCode {
  std::vector<PtxStatement> declarations;  // outside of functions, with those of functions that have no body here
  std::vector<PtxFunction> functions;
};

// Throws std::runtime_error with a reason for a text that does not end where it should.
PtxCode read_ptx(std::string_view text);

// "ld.global.u32" is in "global"; "cp.async.bulk.shared::cluster.global" is in "shared::cluster", too.
bool has_part(std::string_view opcode, std::string_view part);
// "ld".
std::string_view operation(std::string_view opcode);

}  // namespace amdahl

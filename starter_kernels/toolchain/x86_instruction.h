#pragma once
// One instruction of an x86-64 processor, as far as judging a kernel needs it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amdahl {

struct X86Instruction {
  size_t bytes = 0;              // 0: these bytes are none
  std::string refused;           // its name when no kernel needs it, else ""
  std::optional<int64_t> leads;  // a branch to a place that it names itself: from the end of the instruction
};

// The first of `code`. `may_ask_processor`: cpuid and xgetbv are allowed.
X86Instruction x86_instruction(std::string_view code, bool may_ask_processor);

}  // namespace amdahl

#pragma once
// Placebo builds: the same machine code at other addresses. One binary is one sample of code layout however often it runs
// (branch predictor, micro-op cache and page sets see addresses), so a proof draws each pair from several.

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl {

// Compiler output with a run of bytes that are never executed, 0 to 4 KiB, in front of every function. What the compiler
// chose is not touched. Runs are multiples of 16 bytes, the alignment that compilers give functions: so paddings inside a
// function stay what they were, while its place in the 32- and 64-byte windows of the front end moves, which
// -falign-functions=64 would hold still. A function that asks for a larger alignment keeps it.
std::string pad_functions(std::string_view assembly, uint64_t seed);

}  // namespace amdahl

#pragma once
// What kernels over channels last (starter_kernels/kinds/formats.h) have in common on a card.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Why no kernel walks the storage of the operands from `first_input` on, or "": channel blocks, or pixels of channels last that no single stride walks.
std::string refused_formats(const Problem& problem, size_t first_input);

// Adjacent channels that one load takes, 16 bytes of the widest type at most: a divisor of `channels`.
int64_t adjacent_channels(int64_t channels, size_t bytes_of_widest);

// Threads of a block where there is work for `all` of them: few where the card would have fewer blocks than multiprocessors.
int64_t starter_threads(int64_t all, int64_t units);

// What counts the operands' elements: "int" where that is enough, and takes half the registers.
std::string index_type(std::initializer_list<const Access*> operands);

}  // namespace amdahl

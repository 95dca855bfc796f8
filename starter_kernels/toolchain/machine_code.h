#pragma once
// What the instructions of a kernel's library may do. A kernel computes: it moves data, does arithmetic, branches, calls. It does not ask
// the operating system for anything itself (syscall), reads no clock, counter or number of a processor, leaves no transaction, and empties
// no caches. A list of what is allowed, by kind of instruction.
//
// What is looked through is all that lies in sections that can be run, instruction by instruction from each start of a function, and every
// branch must lead to the beginning of one of them. What can be reached by a computed address is not known here: a jump into the middle
// of an instruction, or into the C library, is the sandbox's business. For texts that are not this program's own, the bytes of the three
// ways into the system are looked for at every byte all the same.

#include <cstdint>
#include <string>

#include "base/elf.h"

namespace amdahl {

// "" or the first instruction that no kernel needs, its function, and what to do instead. `own`: the text was written by this program, so that
// numbers in it that read as `syscall` (8 of 1,812 libraries have one) are numbers.
std::string refused_code(const ElfFile& library, bool own);

// "" or why this instruction of an ARM processor may not be in a kernel.
std::string refused_arm_instruction(uint32_t word);

}  // namespace amdahl

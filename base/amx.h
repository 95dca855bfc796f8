#pragma once
// Linux hands out AMX's tile registers (8 KiB a thread) only to processes that ask.

namespace amdahl {

// Asks once; false where the machine or the kernel has none. Before threads are confined: it is a system call.
bool allow_amx();

}  // namespace amdahl

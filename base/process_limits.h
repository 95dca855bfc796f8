#pragma once
// What the machine grants a process, and what is said when it refuses more: never a candidate's fault, always exit code 11.

#include <string>

#include "base/error.h"

namespace amdahl {

// As many open files as this user may have without asking anyone; and a limit on the size of files becomes an error of the write that meets it instead
// of the death of the process. Programs that are started get the signal's old meaning back.
void take_what_limits_allow();

// Throws Error(kIo) when so many threads cannot be started now: OpenMP would end the process without a word of ours.
void require_threads(int count);

// Of a call that failed with this errno: "cannot make a pipe: Too many open files; raise the limit, which is 256: ulimit -n 1024".
Error machine_refuses(const std::string& what, int error);

// Whether an errno speaks of the machine's limits (files, processes, memory, space) and not of what was asked for.
bool is_refusal(int error);

// Whether a program printed that the machine refused it something: its own words for is_refusal().
bool tells_of_refusal(const std::string& output);

}  // namespace amdahl

#pragma once
// Ctrl-C: the first one asks long work to end cleanly, the second ends the process at once.

#include <atomic>

namespace amdahl {

// SIGINT and SIGTERM set the flag instead of killing. Call once, from main.
void install_interrupt_handler();
// For a program that another program has started: when the thread that did is gone, killed perhaps, this is told to end as by SIGTERM.
void end_with_parent();
bool interrupted();
const std::atomic<bool>& interrupt_flag();  // the same, for those who poll it themselves
// Throws Error(kInterrupted) when the flag is set. For loops that have nothing to save.
void stop_if_interrupted();

}  // namespace amdahl

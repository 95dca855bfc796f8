#pragma once
// Takes from a process, and from all that it starts, the right to make sockets.

namespace amdahl {

// Whether this architecture and this kernel can (seccomp). Others run tools without.
bool can_close_network();
// For good. May be called between fork and exec. False when the kernel refused.
bool close_network();

}  // namespace amdahl

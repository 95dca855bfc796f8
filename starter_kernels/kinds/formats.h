#pragma once
// Storage formats of a problem's operands (plan/plan.h, Operand::format), so that a kernel knows what it reads and
// writes: a parameter that all kinds share. "" is row-major, as all operands of a problem that names no formats are; "nchw<k>c" are channel blocks, on CPUs,
// and "nhwc" has a pixel's channels adjacent, on cards. An operand's Access keeps the logical shape, row-major; its storage is the format's.

#include <string>
#include <string_view>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

inline constexpr std::string_view kChannelsLast = "nhwc";

bool has_formats(const Problem& problem);        // also where they are all row-major
bool in_channel_blocks(const Problem& problem);  // some operand is
bool channels_last(const Problem& problem);      // some operand is, and all others are row-major
std::string format_of_input(const Problem& problem, size_t i);
std::string format_of_output(const Problem& problem, size_t i);
void set_formats(Problem& problem, const std::vector<std::string>& in, const std::vector<std::string>& out);

// Channels in a block of "nchw<k>c"; 0 for row-major.
int64_t channel_block(const std::string& format);

// How the storage of an operand [N, C, spatial…] is walked by the indices of [N, C/k, pixels, k]. In channel blocks it
// is dense, or has one pixel that is broadcast; row-major it is walked through its own strides. Throws kInternal when
// its spatial dimensions have no common stride.
Access as_blocks(const Access& access, const std::string& format, int64_t block);

// A pointwise problem over formats as the same problem over their storage: operands [N, C/k, pixels, k], no formats
// left. Padding channels are computed like the others: the caller has made sure that they come out as zero.
Problem stored_in_blocks(const Problem& problem);

// How the storage of an operand [N, C, spatial…] is walked by the indices of [N, pixels, C]. Channels last it is dense, or has one pixel that is broadcast;
// row-major it is walked through its own strides. Throws kInternal when its spatial dimensions have no common stride.
Access as_channels_last(const Access& access, const std::string& format);

// A problem over channels last as the same problem over storage: the operands from `first_input` on and the outputs as [N, pixels, C], no formats left.
Problem stored_channels_last(const Problem& problem, size_t first_input);

// The access with its spatial dimensions made one: [N, C, pixels]. False when no single stride walks them.
bool fold_spatial(const Access& access, Access* folded);

}  // namespace amdahl

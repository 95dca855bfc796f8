#pragma once
// How much memory this process may use: a container or a service often has less than its machine, and whoever takes more is killed
// without a word.

#include <cstdint>
#include <filesystem>
#include <string>

namespace amdahl {

// The smaller of the machine's memory and the limits of this process's control groups.
int64_t usable_memory_bytes();

// The smallest limit in the folders of control groups below `root` (/sys/fs/cgroup) that `membership` names, the text of
// /proc/self/cgroup; INT64_MAX where there is none. Versions 1 and 2.
int64_t cgroup_memory_limit(const std::string& membership, const std::filesystem::path& root);

}  // namespace amdahl

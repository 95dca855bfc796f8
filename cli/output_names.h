#pragma once
// Names of files for tensors, whatever the tensors are called.

#include <string>
#include <vector>

namespace amdahl {

// One file name a tensor, in their order, all different and none longer than `longest` bytes, `ending` included. Letters of any script, digits, '-', '.' and
// '_' stay; all else becomes '_'. What is cut off, or would be the name of two, is told apart by a number.
std::vector<std::string> file_names(const std::vector<std::string>& tensors, const std::string& ending, size_t longest);

// What the file system takes at most there.
size_t longest_file_name(const std::string& folder);

}  // namespace amdahl

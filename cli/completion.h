#pragma once
// Completion for shells, written from the commands' own tables: commands, options, values that are known, builtin models, files.

#include <string>

namespace amdahl {

std::string bash_completion();
std::string zsh_completion();

}  // namespace amdahl

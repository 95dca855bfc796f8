#pragma once
// Results of compiling that every toolchain makes alike.

#include <string>

#include "base/subprocess.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/toolchain/toolchain.h"

namespace amdahl {

CompileResult failed(std::string code, std::string message);
CompileResult found(const std::string& library);  // in the cache
bool is_whole(const std::string& library);        // and not cut off: to load one that is ends the process
bool is_there(const std::string& path);           // and not empty

// The compiler's first line that says "error:", cut at 300 bytes; the first of all where none does.
std::string first_error(const std::string& output);
// Whether time, memory or the size of a file stopped the compiler.
bool hit_a_limit(const SubprocessResult& run);
// False, and why, when the target does not write this form.
bool write_source(const Target& target, const Variant& variant, std::string* text, CompileResult* failure);

}  // namespace amdahl

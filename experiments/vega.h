#pragma once
// Vega, which draws the report's plots, as one script for a page that stands alone. Debian's libjs-vega has it as modules
// for a bundler; here they are put one behind the other, each in a function of its own.

#include <string>

namespace amdahl {

inline constexpr const char* kVegaFolder = "/usr/share/javascript/vega";  // where libjs-vega installs

// share/amdahl/vega beside this program's bin/, where an installation has a copy; else kVegaFolder.
std::string vega_folder();

// Defines `vega` with parse() and View. Throws Error(kIo) that names the package when a module is not in `folder`.
std::string vega_script(const std::string& folder = vega_folder());

}  // namespace amdahl

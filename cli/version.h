#pragma once
// Which program this is: for bug reports, and for whoever finds a session that another one wrote.

#include <nlohmann/json.hpp>
#include <string>

namespace amdahl {

// Version, commit (where it was built from a repository), compiler, kind of build, libraries, schema of sessions.
nlohmann::json version_json();
std::string version_text();    // of several lines
std::string version_number();  // "0.1.0"

}  // namespace amdahl

#pragma once
// Where a page may be written: what --html names must not be anything but a page.

#include <string>

namespace amdahl {

// The file that `path` leads to, through symbolic links. Throws Error(kUsage) where something is there that is no page: a session, a model, a device, a folder.
std::string page_path(const std::string& path);

}  // namespace amdahl

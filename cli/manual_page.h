#pragma once
// amdahl(1), written from the commands' own tables, so that it cannot miss one.

#include <string>

namespace amdahl {

std::string manual_page();  // in man(7)'s macros

}  // namespace amdahl

#pragma once
// The commands' option tables in a form that can be written down: for the manual page and for completion in shells.

#include <string>
#include <vector>

#include "cli/commands.h"

namespace amdahl {

struct OptionRow {
  std::string name;    // "--output"
  std::string letter;  // "-o", or ""
  std::string value;   // "DIR" as the help page calls it, or "" for a switch
  std::string description;
};

std::vector<OptionRow> rows_of(const po::options_description& options);
std::vector<OptionRow> named_rows(const Command& command);  // its own
std::vector<OptionRow> rows_for_every_command();
std::vector<std::string> words_of(const Command& command);  // keys of its words, in order: "session", "number"

}  // namespace amdahl

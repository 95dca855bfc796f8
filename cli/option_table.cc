#include "cli/option_table.h"

namespace amdahl {
namespace {

Options declared(const Command& command) {
  Options options;
  if (command.declare) command.declare(options);
  return options;
}

// Boost shows a default as "N (=3)" or "[=N(=3)]"; what a reader types is the first word.
std::string value_name(const po::option_description& option) {
  if (option.semantic()->max_tokens() == 0) return "";
  const std::string text = option.format_parameter();
  return text.substr(0, text.find(" (="));
}

}  // namespace

std::vector<OptionRow> rows_of(const po::options_description& options) {
  std::vector<OptionRow> rows;
  for (const auto& option : options.options()) {
    const std::string shortest = option->canonical_display_name(po::command_line_style::allow_dash_for_short);
    rows.push_back({"--" + option->long_name(), shortest.size() == 2 && shortest[0] == '-' ? shortest : "", value_name(*option), option->description()});
  }
  return rows;
}

std::vector<OptionRow> named_rows(const Command& command) { return rows_of(declared(command).named); }

std::vector<OptionRow> rows_for_every_command() { return rows_of(global_options()); }

std::vector<std::string> words_of(const Command& command) {
  const Options options = declared(command);
  std::vector<std::string> words;
  for (unsigned i = 0; i < options.positional.max_total_count() && i < options.words.options().size(); ++i)
    words.push_back(options.positional.name_for_position(i));
  return words;
}

}  // namespace amdahl

#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_table.h"
#include "export/exporter.h"
#include "graph/models/builders.h"

namespace amdahl {
namespace {

std::vector<OptionRow> all_rows(const Command& command) {
  std::vector<OptionRow> rows = named_rows(command);
  for (const OptionRow& r : rows_for_every_command()) rows.push_back(r);
  return rows;
}

// What may follow an option: words that are known, else files or folders by the name the help page gives the value.
std::vector<std::string> known_values(const OptionRow& row) {
  if (row.name == "--allow") return {"bf16"};
  if (row.name != "--format") return {};
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) names.emplace_back(format.name);
  return names;
}
bool takes_folder(const OptionRow& row) { return row.value == "DIR"; }
bool takes_file(const OptionRow& row) { return row.value.rfind("FILE", 0) == 0 || row.value.rfind("OUT", 0) == 0; }

std::string words_text(const std::vector<OptionRow>& rows) {
  std::string text;
  for (const OptionRow& r : rows) text += (text.empty() ? "" : " ") + r.name + (r.letter.empty() ? "" : " " + r.letter);
  return text;
}

std::string builtin_names(const char* prefix) {
  std::vector<std::string> names;
  for (const ShippedModel& model : shipped_models()) names.push_back(prefix + std::string(model.name));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string names_of_commands() {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string first_word(const Command& command) {
  const std::vector<std::string> words = words_of(command);
  return words.empty() ? "" : words[0];
}

// ---- bash ------------------------------------------------------------------------------------------------------------

constexpr const char* kBashHead = R"(# Generated from amdahl's option tables.
_amdahl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options= first=
  # bash splits words at the colon of builtin:NAME: joined again here, and what stands before the colon taken off the answers.
  local colon=
  if [[ $current == : && $previous == builtin ]]; then current= colon=1
  elif [[ $previous == : && ${COMP_WORDS[COMP_CWORD-2]} == builtin ]]; then colon=1
  fi
  COMPREPLY=()
)";

constexpr const char* kBashTail = R"(  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ $colon ]]; then
    COMPREPLY=($(compgen -W "$models" -- "$current"))
  elif [[ $first == name ]]; then
    COMPREPLY=($(compgen -W "$models" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
    if [[ $first == model && $current && builtin: == "$current"* ]]; then
      compopt -o nospace 2>/dev/null
      COMPREPLY+=(builtin:)
    fi
  fi
}
complete -F _amdahl amdahl
)";

std::string bash_values(const Command& command) {
  std::string text;
  for (const OptionRow& r : all_rows(command)) {
    if (r.value.empty()) continue;
    const std::string pattern = r.letter.empty() ? r.name : r.name + "|" + r.letter;
    std::string answer = ":";  // a number: nothing to offer
    if (const auto known = known_values(r); !known.empty()) answer = fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))", fmt::join(known, " "));
    else if (takes_folder(r)) answer = "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$current\"))";
    else if (takes_file(r)) answer = "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\"))";
    text += fmt::format("        {}) {}; return ;;\n", pattern, answer);
  }
  return text;
}

// ---- zsh -------------------------------------------------------------------------------------------------------------

// Inside '…' and inside the brackets of _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\'') out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\') out += std::string("\\") + c;
    else out += c;
  }
  return out;
}

std::string zsh_action(const OptionRow& row) {
  if (row.value.empty()) return "";
  std::string action;
  if (const auto known = known_values(row); !known.empty()) action = fmt::format("({})", fmt::join(known, " "));
  else if (takes_folder(row)) action = "_files -/";
  else if (takes_file(row)) action = "_files";
  return fmt::format(":{}:{}", zsh_text(row.value), action);
}

std::string zsh_arguments(const Command& command) {
  std::string text;
  for (const OptionRow& r : all_rows(command)) {
    text += fmt::format("        '{}[{}]{}' \\\n", r.name, zsh_text(r.description), zsh_action(r));
    if (!r.letter.empty()) text += fmt::format("        '{}[{}]{}' \\\n", r.letter, zsh_text(r.description), zsh_action(r));
  }
  int position = 0;
  for (const std::string& word : words_of(command)) {
    const char* action = word == "model" ? "_amdahl_model" : word == "name" ? "_amdahl_name" : word == "session" ? "_files" : "";
    text += fmt::format("        '{}:{}:{}' \\\n", ++position, word, action);
  }
  return text + "        && return 0";
}

}  // namespace

std::string bash_completion() {
  std::string text = kBashHead;
  text += fmt::format("  local models=\"{}\"\n", builtin_names(""));
  text += fmt::format("  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n    return\n  fi\n",
                      names_of_commands());
  text += "  case $command in\n";
  for (const Command* command : commands())
    text += fmt::format("    {})\n      options=\"{}\" first={}\n      case $previous in\n{}      esac ;;\n", command->name, words_text(all_rows(*command)),
                        first_word(*command), bash_values(*command));
  return text + "  esac\n" + kBashTail;
}

std::string zsh_completion() {
  std::string text = "#compdef amdahl\n# Generated from amdahl's option tables.\n";
  text += fmt::format("_amdahl_name() {{ compadd -- {} }}\n", builtin_names(""));
  text += fmt::format("_amdahl_model() {{ compadd -- {}; _files }}\n", builtin_names("builtin:"));
  text += "_amdahl() {\n  if ((CURRENT == 2)); then\n    local -a names=(\n";
  for (const Command* command : commands()) text += fmt::format("      '{}:{}'\n", command->name, zsh_text(command->summary));
  text += "      '--help:the commands'\n      '--version:which program this is'\n";
  text += "    )\n    _describe command names\n    return\n  fi\n  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const Command* command : commands()) text += fmt::format("    {})\n      _arguments \\\n{} ;;\n", command->name, zsh_arguments(*command));
  return text + "  esac\n}\n_amdahl \"$@\"\n";
}

}  // namespace amdahl

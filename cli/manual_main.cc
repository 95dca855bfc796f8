// amdahl-manual man|bash|zsh FILE: writes what the build installs beside the program. Not installed itself.

#include <cstdio>
#include <exception>
#include <string_view>

#include "base/atomic_file.h"
#include "cli/completion.h"
#include "cli/manual_page.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  const std::string text = what == "man" ? amdahl::manual_page() : what == "bash" ? amdahl::bash_completion() : what == "zsh" ? amdahl::zsh_completion() : "";
  if (text.empty()) return std::fputs("usage: amdahl-manual man|bash|zsh FILE\n", stderr), 2;
  try {
    amdahl::write_atomically(argv[2], text);
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "amdahl-manual: %s\n", e.what()), 1;
  }
  return 0;
}

#include "cli/page_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/printable.h"

namespace fs = std::filesystem;

namespace amdahl {
namespace {

bool begins_as_a_page(const fs::path& file) {
  std::string start(14, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (in.gcount() == 0) return true;  // made by mktemp, say
  std::transform(start.begin(), start.end(), start.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return start == "<!doctype html";
}

}  // namespace

std::string page_path(const std::string& path) {
  std::error_code error;
  fs::path file = path;
  // Not canonical(): a link to a file that is not there yet is to make it.
  for (int link = 0; link < 40 && fs::is_symlink(file, error); ++link) file = file.parent_path() / fs::read_symlink(file, error);
  if (fs::exists(file, error) && !(fs::is_regular_file(file, error) && begins_as_a_page(file)))
    throw Error(ExitCode::kUsage, fmt::format("--html {}: what is there is no page, and would be lost: name another file", shown(path)));
  return file;
}

}  // namespace amdahl

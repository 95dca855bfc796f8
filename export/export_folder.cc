#include "export/export_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/embedded.h"
#include "base/error.h"
#include "base/printable.h"

namespace fs = std::filesystem;

namespace amdahl {

const std::vector<EmbeddedText>& embedded_templates();  // generated

ExportFolder::ExportFolder(std::string directory) : directory_(std::move(directory)) {
  std::error_code error;
  if (fs::exists(directory_) && !fs::is_empty(directory_, error) && !fs::exists(directory_ + "/selftest.bin") && !fs::exists(directory_ + "/plan.json"))
    throw Error(ExitCode::kIo, fmt::format("'{}' holds other files: give a new or empty folder", directory_));
}

void ExportFolder::clear(const std::string& sub) {
  std::error_code ignored;
  fs::remove_all(directory_ + "/" + sub, ignored);
}

void ExportFolder::text(const std::string& name, const std::string& content) {
  binary(name, [&](std::ostream& out) { out << content; });
}

void ExportFolder::binary(const std::string& name, const std::function<void(std::ostream&)>& write) {
  const std::string path = place(name);
  std::ofstream out(path, std::ios::binary);
  write(out);
  if (!out.flush()) throw Error(ExitCode::kIo, fmt::format("cannot write '{}': is the disk full or the folder read-only?", path));
}

std::string ExportFolder::place(const std::string& name) {
  const fs::path path = fs::path(directory_) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw Error(ExitCode::kIo, fmt::format("cannot create '{}': {}", path.parent_path().string(), error.message()));
  files_.push_back(name);
  return path.string();
}

std::string filled_template(const std::string& name, const Words& words) {
  std::string text(find_text(embedded_templates(), name));
  for (const auto& [word, value] : words) {
    const std::string mark = "@" + word + "@";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) text.replace(at, mark.size(), value);
  }
  return text;
}

std::string in_comment(const std::string& words) {
  std::string text = printable(words);
  std::replace(text.begin(), text.end(), '\\', '/');
  std::replace(text.begin(), text.end(), '"', '\'');
  for (const char* pair : {"*/", "/*", "??"})  // the last begins trigraphs, one of which is a backslash
    for (size_t at = 0; (at = text.find(pair, at)) != std::string::npos;) text.insert(at + 1, " ");
  return text;
}

}  // namespace amdahl

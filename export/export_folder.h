#pragma once
// The folder that an export is written to, and the texts with @WORDS@ that most of its files are made of.

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace amdahl {

class ExportFolder {
 public:
  // New, empty, or holding an earlier export. Throws Error(kIo) when it holds something else.
  explicit ExportFolder(std::string directory);

  void clear(const std::string& sub);  // what an earlier export left there
  // Folders are made as needed. Throws Error(kIo) when it cannot be written.
  void text(const std::string& name, const std::string& content);
  void binary(const std::string& name, const std::function<void(std::ostream&)>& write);
  std::string place(const std::string& name);                                          // the path of a file that somebody else writes
  std::string path(const std::string& name) const { return directory_ + "/" + name; }  // of a file that is there
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::string directory_;
  std::vector<std::string> files_;
};

using Words = std::map<std::string, std::string>;

// The template of this name ("cxx_templates/model.cpp.in") with every @WORD@ in place. Throws Error(kInternal) when there is none.
std::string filled_template(const std::string& name, const Words& words);

// For a comment of C or CMake, or a text of several lines in Python: what would end it, or join the next line to it, does not.
std::string in_comment(const std::string& words);

}  // namespace amdahl

#pragma once
// Takes from a process, and from all that it starts, the right to open files outside some folders. Linux Landlock: needs no
// root, is checked by the kernel at every open, and cannot be undone.

#include <string>
#include <vector>

namespace amdahl {

// Folders with all that lies below them, or single files. What does not exist is left out. Descriptors that are open already
// stay as they are.
struct FolderRules {
  std::vector<std::string> read;
  std::vector<std::string> write;    // read, make, change and remove; not links, sockets and devices
  std::vector<std::string> execute;  // read and execute. A program needs its loader and its libraries here, too
};

// Rules made ready before a fork, so that the child only has two system calls to make.
class FolderRestriction {
 public:
  // Never throws: a kernel without Landlock is not an error, but somebody has to say it.
  explicit FolderRestriction(const FolderRules& rules);
  ~FolderRestriction();
  FolderRestriction(const FolderRestriction&) = delete;
  FolderRestriction& operator=(const FolderRestriction&) = delete;

  // "" when apply() will restrict, else one line that says why it cannot.
  const std::string& why_not() const { return why_not_; }
  // Restricts the calling thread and what it starts from then on: call it before other threads exist. May be called between
  // fork and exec. False when the kernel refused; the caller must not go on as if it had not.
  bool apply() const;

 private:
  int ruleset_ = -1;
  std::string why_not_;
};

// Both at once, for a process that restricts itself. "" when enforced, else why not.
std::string restrict_folders(const FolderRules& rules);

}  // namespace amdahl

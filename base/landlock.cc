#include "base/landlock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

// The system's headers may be older than the kernel (and glibc has no wrappers), so the few numbers of this interface are
// written down here. They are frozen, and the same on all architectures.
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

namespace amdahl {
namespace {

constexpr uint64_t bit(int n) { return uint64_t{1} << n; }
constexpr uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2), kReadFolder = bit(3), kRemoveFolder = bit(4), kRemoveFile = bit(5),
                   kMakeFolder = bit(7), kMakeFile = bit(8), kTruncate = bit(14), kDeviceControl = bit(15);
constexpr uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;

constexpr uint64_t kRead = kReadFile | kReadFolder;
constexpr uint64_t kWrite = kRead | kWriteFile | kTruncate | kMakeFile | kRemoveFile | kMakeFolder | kRemoveFolder | kDeviceControl;

// Every right that a version of the interface knows is taken away first; what it does not know it cannot take away.
uint64_t known_rights(long version) {
  if (version >= 5) return bit(16) - 1;
  if (version >= 3) return bit(15) - 1;  // truncate
  if (version >= 2) return bit(14) - 1;  // rename and link between folders
  return bit(13) - 1;
}

struct RulesetAttributes {
  uint64_t handled_access_fs;
};
struct __attribute__((packed)) PathBeneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};

// "" or what went wrong.
std::string add(int ruleset, const std::string& path, uint64_t rights) {
  const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0 && errno == EMFILE) return "too many open files";
  if (fd < 0) return "";
  struct stat there {};
  if (fstat(fd, &there) != 0 || !S_ISDIR(there.st_mode)) rights &= kOfFiles;
  const PathBeneath rule{rights, fd};
  const long failed = syscall(__NR_landlock_add_rule, ruleset, 1 /* path beneath */, &rule, 0);
  const int error = errno;
  close(fd);
  return failed ? fmt::format("{}: {}", path, std::strerror(error)) : "";
}

}  // namespace

FolderRestriction::FolderRestriction(const FolderRules& rules) {
  const long version = syscall(__NR_landlock_create_ruleset, nullptr, 0, 1 /* the version */);
  if (version < 1) {
    why_not_ = fmt::format(
        "folders cannot be closed off: this kernel has no Landlock ({}); Linux 5.13 and later have it, "
        "where `lsm=` on the kernel's command line names landlock",
        std::strerror(errno));
    return;
  }
  const uint64_t known = known_rights(version);
  const RulesetAttributes attributes{known};
  ruleset_ = static_cast<int>(syscall(__NR_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (ruleset_ < 0) {
    why_not_ = fmt::format("folders cannot be closed off: Landlock: {}", std::strerror(errno));
    return;
  }
  std::string error;
  const auto add_all = [&](const std::vector<std::string>& paths, uint64_t rights) {
    for (const std::string& path : paths)
      if (error.empty()) error = add(ruleset_, path, rights & known);
  };
  add_all(rules.read, kRead);
  add_all(rules.write, kWrite);
  add_all(rules.execute, kRead | kExecute);
  if (error.empty()) return;
  why_not_ = "folders cannot be closed off: Landlock: " + error;
  close(ruleset_);
  ruleset_ = -1;
}

FolderRestriction::~FolderRestriction() {
  if (ruleset_ >= 0) close(ruleset_);
}

bool FolderRestriction::apply() const {
  return ruleset_ >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(__NR_landlock_restrict_self, ruleset_, 0) == 0;
}

std::string restrict_folders(const FolderRules& rules) {
  const FolderRestriction restriction(rules);
  if (!restriction.why_not().empty()) return restriction.why_not();
  return restriction.apply() ? "" : fmt::format("folders cannot be closed off: Landlock: {}", std::strerror(errno));
}

}  // namespace amdahl

#pragma once
// A folder for one compile, in the cache, so that what it leaves can be renamed into its place.

#include <string>
#include <string_view>

namespace amdahl {

class ScratchFolder {
 public:
  // Throws Error(kIo), as write() does.
  explicit ScratchFolder(const std::string& cache_dir);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }
  void write(const char* name, std::string_view text) const;

 private:
  std::string path_;
};

// Removes what killed programs left. Not what may be another program's on another machine with the same cache: an hour is
// longer than any build takes.
void sweep_scratch_folders(const std::string& cache_dir);

}  // namespace amdahl

#pragma once
// Constants of any number of programs of one graph, once, in a file in memory that all workers map for reading: no start of a
// worker copies a model's weights, and nothing is written to disk. It lies on huge pages where the system has them: kernels that read a weight in
// place read it here.

#include <map>
#include <string>

#include "plan/program.h"

namespace amdahl {

class ConstantsFile {
 public:
  explicit ConstantsFile(const Graph& graph);  // throws Error(kIo)
  ~ConstantsFile();
  ConstantsFile(const ConstantsFile&) = delete;
  // Stores what is new and points the program's constants into the file. Throws Error(kIo) when memory is refused.
  void adopt(Program& program, const Blob& blob);
  std::vector<std::byte> read(int64_t at, size_t bytes) const;
  int read_only() const { return read_only_; }
  size_t bytes() const { return bytes_; }

 private:
  void make_room();

  int writable_ = -1, read_only_ = -1;
  size_t bytes_ = 0, room_ = 0;                     // used, and of the file
  std::map<const std::byte*, int64_t> by_address_;  // the graph's own tensors live as long as it does
  std::map<std::string, int64_t> by_content_;       // reformatted copies
};

}  // namespace amdahl

#include "graph/onnx/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace amdahl {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

}  // namespace

MappedFile map_file(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail(errno);
  struct stat status;
  if (fstat(file.get(), &status) != 0) fail(errno);
  if (S_ISDIR(status.st_mode)) fail(EISDIR);
  if (!S_ISREG(status.st_mode)) fail(EINVAL);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {};
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail(errno);
  std::shared_ptr<const std::byte> data(static_cast<const std::byte*>(address), [size](const std::byte* p) { munmap(const_cast<std::byte*>(p), size); });
  return {std::move(data), size};
}

}  // namespace amdahl

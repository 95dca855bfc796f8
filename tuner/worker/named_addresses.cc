#include "tuner/worker/named_addresses.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "tuner/worker/pages.h"

namespace amdahl {
namespace {

// Read by the signal handler, hence a plain array.
struct Buffer {
  const std::byte* data;
  size_t bytes;
  char name[64];
};
std::array<Buffer, 2048> buffers;

void write_text(int fd, const char* text) { [[maybe_unused]] const ssize_t n = write(fd, text, std::strlen(text)); }

void write_number(int fd, size_t n) {
  char digits[24];
  size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + n % 10);
  while ((n /= 10) > 0);
  [[maybe_unused]] const ssize_t w = write(fd, digits + at, sizeof digits - at);
}

}  // namespace

void name_addresses(const std::byte* data, size_t bytes, const std::string& name) {
  for (Buffer& b : buffers) {
    if (b.data) continue;
    b.bytes = bytes;
    std::strncpy(b.name, name.c_str(), sizeof b.name - 1);
    b.data = data;
    return;
  }
}

void forget_addresses(const std::byte* data) {
  for (Buffer& b : buffers)
    if (b.data == data) b.data = nullptr;
}

void describe_address(const void* address, int fd) {
  const auto a = reinterpret_cast<uintptr_t>(address);
  for (const Buffer& b : buffers) {
    if (!b.data) continue;
    const auto first = reinterpret_cast<uintptr_t>(b.data), end = first + b.bytes;
    const char* where = nullptr;
    size_t distance = 0;
    if (a >= end && a < end + 2 * kPage) where = " bytes past the end of '", distance = a - end;
    else if (a < first && a + 2 * kPage > first) where = " bytes before the start of '", distance = first - a;
    else if (a >= first && a < end) where = " bytes into read-only '", distance = a - first;
    if (!where) continue;
    write_text(fd, ", ");
    write_number(fd, distance);
    write_text(fd, where);
    write_text(fd, b.name);
    write_text(fd, "'");
    return;
  }
}

}  // namespace amdahl

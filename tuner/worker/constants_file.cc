#include "tuner/worker/constants_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/hash.h"
#include "base/process_limits.h"
#include "tuner/worker/huge_file.h"

namespace amdahl {

ConstantsFile::ConstantsFile(const Graph& graph) : writable_(memfd_create("amdahl-constants", MFD_CLOEXEC)) {
  if (writable_ >= 0) read_only_ = open(fmt::format("/proc/self/fd/{}", writable_).c_str(), O_RDONLY | O_CLOEXEC);
  if (read_only_ < 0 && is_refusal(errno)) throw machine_refuses("make a file in memory", errno);
  if (read_only_ < 0) throw Error(ExitCode::kIo, "cannot open a file in memory for reading: is /proc mounted?");
  for (const Value& v : graph.values)
    if (v.constant) by_address_[v.constant->data()] = -1;
}

ConstantsFile::~ConstantsFile() {
  close(read_only_);
  close(writable_);
}

void ConstantsFile::adopt(Program& program, const Blob& blob) {
  std::map<int64_t, int64_t> moved;
  for (const auto& [offset, tensor] : blob.pieces) {
    const auto own = by_address_.find(tensor.data());
    int64_t& at = own != by_address_.end() ? own->second : by_content_.try_emplace(hash_hex(tensor.data(), tensor.bytes()), -1).first->second;
    if (at < 0) {
      at = static_cast<int64_t>(bytes_);
      bytes_ += (tensor.bytes() + 63) / 64 * 64;
      if (bytes_ > room_) make_room();
      for (size_t done = 0; done < tensor.bytes();) {
        const ssize_t n = pwrite(writable_, tensor.data() + done, tensor.bytes() - done, at + static_cast<off_t>(done));
        if (n <= 0) throw Error(ExitCode::kIo, "out of memory for the model's constants");
        done += static_cast<size_t>(n);
      }
    }
    moved[offset] = at;
  }
  for (Program::Buffer& b : program.buffers)
    if (b.blob_offset >= 0) b.blob_offset = moved.at(b.blob_offset);
  program.blob_bytes = bytes_;
}

void ConstantsFile::make_room() {
  const size_t before = room_;
  room_ = up_to_huge_page(bytes_);
  if (ftruncate(writable_, static_cast<off_t>(room_)) != 0) throw Error(ExitCode::kIo, "out of memory for the model's constants");
  const FileMapping m = map_on_huge_pages(writable_, static_cast<int64_t>(before), room_ - before, PROT_READ | PROT_WRITE);
  if (!m.first) return;  // small pages will do
  join_pages(m.first, room_ - before);
  munmap(m.reserved, m.span);
}

std::vector<std::byte> ConstantsFile::read(int64_t at, size_t bytes) const {
  std::vector<std::byte> data(bytes);
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pread(writable_, data.data() + done, bytes - done, at + static_cast<off_t>(done));
    if (n <= 0) throw Error(ExitCode::kInternal, "the constants' file is too short");
    done += static_cast<size_t>(n);
  }
  return data;
}

}  // namespace amdahl

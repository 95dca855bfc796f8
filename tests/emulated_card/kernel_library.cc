#include "tests/emulated_card/kernel_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/elf.h"
#include "base/error.h"

namespace amdahl::testing {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ExitCode::kInternal, "the emulated kernel's library " + why); }

template <typename Row>
std::vector<Row> rows(const ElfFile& file, const std::byte* first, std::string_view name) {
  for (const ElfFile::Symbol& s : file.dynamic_symbols()) {
    if (!s.defined || s.name != name) continue;
    std::vector<Row> all(s.bytes / sizeof(Row));
    std::memcpy(static_cast<void*>(all.data()), first + s.address, all.size() * sizeof(Row));
    return all;
  }
  return {};
}

std::byte* address_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) refuse(dlerror());
  return reinterpret_cast<std::byte*>(map->l_addr);
}

}  // namespace

KernelLibrary::KernelLibrary(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) refuse(fmt::format("does not load: {}", dlerror()));
  first_ = address_of(handle_);
  const std::unique_ptr<const ElfFile> file = ElfFile::read(path);
  for (const ElfFile::Segment& s : file->segments())
    if (s.type == PT_LOAD) bytes_ = std::max<size_t>(bytes_, s.address + s.bytes);
  for (const ElfFile::Section& s : file->sections())
    if (s.name == ".bss") shared_ = first_ + s.address, shared_bytes_ = s.size;
  launches_ = rows<cuda::Launch>(*file, first_, "amdahl_launches");
  packs_ = rows<cuda::Pack>(*file, first_, "amdahl_packs");
  const std::vector<uint64_t> workspace = rows<uint64_t>(*file, first_, "amdahl_workspace_bytes");
  if (launches_.empty() || workspace.size() != 1) refuse("lacks a table");
  workspace_bytes_ = workspace[0];
}

KernelLibrary::~KernelLibrary() { dlclose(handle_); }

KernelFunction KernelLibrary::function(const cuda::Launch& launch) const {
  void* function = dlsym(handle_, launch.function().c_str());
  if (!function) refuse(fmt::format("has no {}", launch.function()));
  return reinterpret_cast<KernelFunction>(function);
}

}  // namespace amdahl::testing

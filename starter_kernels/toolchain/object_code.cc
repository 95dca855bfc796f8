#include "starter_kernels/toolchain/object_code.h"

#include <elf.h>

#include <set>

#include "base/elf.h"
#include "base/hash.h"

namespace amdahl {

std::string object_code_hash(const std::string& library) {
  const auto elf = ElfFile::read(library);
  if (!elf) return "";
  static const std::set<std::string_view> kContents = {".text", ".rodata", ".data", ".data.rel.ro", ".init_array", ".tdata"};
  std::string contents;
  for (const ElfFile::Section& s : elf->sections()) {
    if (s.type != SHT_PROGBITS) continue;
    if (kContents.count(s.name) || s.name.starts_with(".rodata.") || s.name.starts_with(".text.")) contents.append(s.name).append(s.contents);
  }
  return contents.empty() ? "" : hash_hex(contents);
}

}  // namespace amdahl

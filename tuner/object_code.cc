#include "tuner/object_code.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "base/hash.h"

namespace amdahl {

std::string object_code_hash(const std::string& library) {
  std::ifstream in(library, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), {});
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return "";
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return "";
  const auto section = [&](size_t i, Elf64_Shdr* s) {
    const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    if (at + sizeof(Elf64_Shdr) > file.size()) return false;
    std::memcpy(s, file.data() + at, sizeof *s);
    return s->sh_type == SHT_NOBITS || s->sh_offset + s->sh_size <= file.size();
  };
  Elf64_Shdr names;
  if (!section(header.e_shstrndx, &names)) return "";
  static const std::set<std::string> kContents = {".text", ".rodata", ".data", ".data.rel.ro", ".init_array", ".tdata"};
  std::string contents;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr s;
    if (!section(i, &s) || s.sh_type != SHT_PROGBITS || s.sh_name >= names.sh_size) continue;
    const std::string name = file.c_str() + names.sh_offset + s.sh_name;
    bool counts = kContents.count(name) > 0;
    for (const char* prefix : {".rodata.", ".text."}) counts = counts || name.rfind(prefix, 0) == 0;
    if (counts) contents += name + file.substr(s.sh_offset, s.sh_size);
  }
  return contents.empty() ? "" : hash_hex(contents);
}

}  // namespace amdahl

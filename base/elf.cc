#include "base/elf.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace amdahl {
namespace {

// Nothing in a file is aligned for certain.
template <typename T>
bool copy_from(std::string_view bytes, size_t at, T* value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
  std::memcpy(value, bytes.data() + at, sizeof(T));
  return true;
}

std::string_view text_at(std::string_view table, size_t at) {
  if (at >= table.size()) return {};
  const std::string_view rest = table.substr(at);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::unique_ptr<const ElfFile> ElfFile::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  auto elf = std::make_unique<ElfFile>();
  elf->file_.assign(std::istreambuf_iterator<char>(in), {});
  const std::string_view file = elf->file_;
  Elf64_Ehdr header;
  if (!copy_from(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return nullptr;
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  for (size_t i = 0; i < headers.size(); ++i) {
    Elf64_Shdr& h = headers[i];
    if (!copy_from(file, header.e_shoff + i * sizeof h, &h)) return nullptr;
    const bool stored = h.sh_type != SHT_NOBITS;
    if (stored && (h.sh_offset > file.size() || h.sh_size > file.size() - h.sh_offset)) return nullptr;
    elf->sections_.push_back({{}, h.sh_type, h.sh_link, stored ? file.substr(h.sh_offset, h.sh_size) : std::string_view{}, h.sh_flags, h.sh_addr, h.sh_size});
  }
  elf->machine_ = header.e_machine;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr h;
    if (!copy_from(file, header.e_phoff + i * sizeof h, &h)) return nullptr;
    elf->segments_.push_back({h.p_type, h.p_flags, h.p_vaddr, h.p_memsz});
  }
  if (header.e_shstrndx >= headers.size()) return nullptr;
  const std::string_view names = elf->sections_[header.e_shstrndx].contents;
  for (size_t i = 0; i < headers.size(); ++i) elf->sections_[i].name = text_at(names, headers[i].sh_name);
  return elf;
}

std::string_view ElfFile::string_at(const Section& table, size_t offset) const {
  return table.link < sections_.size() ? text_at(sections_[table.link].contents, offset) : std::string_view{};
}

std::vector<ElfFile::Symbol> ElfFile::symbols_of(uint32_t section_type) const {
  std::vector<Symbol> symbols;
  for (const Section& s : sections_) {
    if (s.type != section_type) continue;
    Elf64_Sym symbol;
    for (size_t at = 0; copy_from(s.contents, at, &symbol); at += sizeof symbol)
      if (const std::string_view name = string_at(s, symbol.st_name); !name.empty())
        symbols.push_back({name, symbol.st_shndx != SHN_UNDEF, symbol.st_value, symbol.st_size, static_cast<unsigned char>(ELF64_ST_TYPE(symbol.st_info))});
  }
  return symbols;
}

std::vector<ElfFile::Symbol> ElfFile::dynamic_symbols() const { return symbols_of(SHT_DYNSYM); }
std::vector<ElfFile::Symbol> ElfFile::all_symbols() const { return symbols_of(SHT_SYMTAB); }

std::vector<ElfFile::Tag> ElfFile::dynamic_tags() const {
  std::vector<Tag> tags;
  for (const Section& s : sections_) {
    if (s.type != SHT_DYNAMIC) continue;
    Elf64_Dyn entry;
    for (size_t at = 0; copy_from(s.contents, at, &entry) && entry.d_tag != DT_NULL; at += sizeof entry)
      tags.push_back({entry.d_tag, entry.d_un.d_val, string_at(s, entry.d_un.d_val)});
  }
  return tags;
}

std::vector<std::string_view> ElfFile::needed() const {
  std::vector<std::string_view> names;
  for (const Tag& t : dynamic_tags())
    if (t.tag == DT_NEEDED) names.push_back(t.text);
  return names;
}

}  // namespace amdahl

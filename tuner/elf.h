#pragma once
// A 64-bit ELF file of this machine's byte order, as far as judging a built kernel needs it: sections, the dynamic symbols
// and the libraries it names.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

class ElfFile {
 public:
  struct Section {
    std::string_view name;
    uint32_t type = 0, link = 0;   // SHT_…; for a table of symbols or tags: the section of its strings
    std::string_view contents;     // empty for SHT_NOBITS
  };
  struct Symbol {
    std::string_view name;
    bool defined = false;          // here, and seen from outside; else it is asked of other libraries
  };

  // nullptr when it cannot be read, is something else, or contradicts itself (offsets past its end).
  static std::unique_ptr<const ElfFile> read(const std::string& path);

  const std::vector<Section>& sections() const { return sections_; }
  std::vector<Symbol> dynamic_symbols() const;
  std::vector<std::string_view> needed() const;   // DT_NEEDED, in order

  ElfFile() = default;
  ElfFile(const ElfFile&) = delete;  // names point into file_

 private:
  std::string_view string_at(const Section& table, size_t offset) const;

  std::string file_;
  std::vector<Section> sections_;
};

}  // namespace amdahl

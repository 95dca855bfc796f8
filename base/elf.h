#pragma once
// A 64-bit ELF file of this machine's byte order, as far as judging a built kernel needs it: sections, segments, symbols, and
// what the loader is told to do with it.

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
    uint32_t type = 0, link = 0;                // SHT_…; for a table of symbols or tags: the section of its strings
    std::string_view contents;                  // empty for SHT_NOBITS
    uint64_t flags = 0, address = 0, size = 0;  // SHF_…; in memory, from where the library is loaded
  };
  struct Segment {
    uint32_t type = 0, flags = 0;     // PT_…, PF_…
    uint64_t address = 0, bytes = 0;  // in memory
  };
  struct Symbol {
    std::string_view name;
    bool defined = false;  // here, and seen from outside; else it is asked of other libraries
    uint64_t address = 0, bytes = 0;
    unsigned char type = 0;  // STT_…
  };
  struct Tag {
    int64_t tag = 0;  // DT_…
    uint64_t value = 0;
    std::string_view text;  // what `value` is the place of, where the tag names something
  };

  // nullptr when it cannot be read, is something else, or contradicts itself (offsets past its end).
  static std::unique_ptr<const ElfFile> read(const std::string& path);

  uint16_t machine() const { return machine_; }  // EM_…
  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Segment>& segments() const { return segments_; }
  std::vector<Symbol> dynamic_symbols() const;
  std::vector<Symbol> all_symbols() const;       // of SHT_SYMTAB: local ones, too
  std::vector<Tag> dynamic_tags() const;         // up to DT_NULL
  std::vector<std::string_view> needed() const;  // DT_NEEDED, in order

  ElfFile() = default;
  ElfFile(const ElfFile&) = delete;  // names point into file_

 private:
  std::string_view string_at(const Section& table, size_t offset) const;
  std::vector<Symbol> symbols_of(uint32_t section_type) const;

  std::string file_;
  uint16_t machine_ = 0;
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
};

}  // namespace amdahl

#include "starter_kernels/toolchain/library_layout.h"

#include <elf.h>
#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

namespace amdahl {
namespace {

constexpr uint64_t kRead = SHF_ALLOC, kWrite = SHF_ALLOC | SHF_WRITE, kRun = SHF_ALLOC | SHF_EXECINSTR;
constexpr uint64_t kAccess = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR;
constexpr uint32_t kRelr = 19;  // SHT_RELR: newer than some <elf.h>

struct Kind {
  uint32_t type;
  uint64_t access;
};

// All that is loaded. What is not (.comment, .symtab, …) is nobody's to read.
// clang-format off
const std::map<std::string_view, Kind> kSections{
    {".note.gnu.build-id", {SHT_NOTE, kRead}}, {".note.gnu.property", {SHT_NOTE, kRead}}, {".hash", {SHT_HASH, kRead}},
    {".gnu.hash", {SHT_GNU_HASH, kRead}},      {".dynsym", {SHT_DYNSYM, kRead}},          {".dynstr", {SHT_STRTAB, kRead}},
    {".gnu.version", {SHT_GNU_versym, kRead}}, {".gnu.version_r", {SHT_GNU_verneed, kRead}},
    {".rela.dyn", {SHT_RELA, kRead}},          {".rela.plt", {SHT_RELA, kRead}},          {".relr.dyn", {kRelr, kRead}},
    {".init", {SHT_PROGBITS, kRun}},           {".plt", {SHT_PROGBITS, kRun}},            {".plt.got", {SHT_PROGBITS, kRun}},
    {".plt.sec", {SHT_PROGBITS, kRun}},        {".text", {SHT_PROGBITS, kRun}},           {".fini", {SHT_PROGBITS, kRun}},
    {".rodata", {SHT_PROGBITS, kRead}},        {".eh_frame_hdr", {SHT_PROGBITS, kRead}},  {".eh_frame", {SHT_PROGBITS, kRead}},
    {".gcc_except_table", {SHT_PROGBITS, kRead}},
    {".tdata", {SHT_PROGBITS, kWrite}},        {".tbss", {SHT_NOBITS, kWrite}},           {".init_array", {SHT_INIT_ARRAY, kWrite}},
    {".fini_array", {SHT_FINI_ARRAY, kWrite}}, {".data.rel.ro", {SHT_PROGBITS, kWrite}},  {".dynamic", {SHT_DYNAMIC, kWrite}},
    {".got", {SHT_PROGBITS, kWrite}},          {".got.plt", {SHT_PROGBITS, kWrite}},      {".data", {SHT_PROGBITS, kWrite}},
    {".bss", {SHT_NOBITS, kWrite}},            {".tm_clone_table", {SHT_PROGBITS, kWrite}}};
// clang-format on

// GNU_STACK says what access the stack wants: kernels that ask for one that runs code are refused below.
const std::set<uint32_t> kSegments{PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_PHDR, PT_TLS, PT_GNU_EH_FRAME, PT_GNU_STACK, PT_GNU_RELRO, PT_GNU_PROPERTY};

// Not here: filters, audits, text relocations, other ways to be initialized. RUNPATH is what compilers write that live outside the system's folders.
// clang-format off
const std::set<int64_t> kTags{DT_NEEDED, DT_RUNPATH, DT_INIT, DT_FINI, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, DT_HASH,
                              DT_GNU_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT, DT_PLTGOT, DT_PLTRELSZ, DT_PLTREL, DT_JMPREL, DT_RELA,
                              DT_RELASZ, DT_RELAENT, DT_RELACOUNT, DT_VERNEED, DT_VERNEEDNUM, DT_VERSYM, DT_FLAGS, DT_FLAGS_1,
                              35 /* RELRSZ */, 36 /* RELR */, 37 /* RELRENT */, 0x70000001 /* AArch64: BTI */, 0x70000003 /* PAC */};
// clang-format on

std::string refused_section(const ElfFile::Section& s) {
  if (!(s.flags & SHF_ALLOC)) return "";
  const auto known = kSections.find(s.name);
  if (known == kSections.end()) return fmt::format("has a section {} that kernels do not have: leave out what puts something there", s.name);
  if (known->second.type != s.type || known->second.access != (s.flags & kAccess))
    return fmt::format("has a section {} of another kind than compilers write", s.name);
  return "";
}

std::string refused_segment(const ElfFile::Segment& s) {
  if (!kSegments.count(s.type)) return fmt::format("has a segment of type {:#x} that kernels do not have", s.type);
  if ((s.flags & PF_X) && (s.flags & PF_W)) return "asks for memory that can be written and run";
  if (s.type == PT_GNU_STACK && (s.flags & PF_X)) return "asks for a stack that can be run: take no addresses of nested functions";
  return "";
}

// What can be run is what is looked through: nothing else may lie in a segment that can be.
std::string uncovered_code(const ElfFile& library) {
  for (const ElfFile::Segment& segment : library.segments()) {
    if (segment.type != PT_LOAD || !(segment.flags & PF_X)) continue;
    for (const ElfFile::Section& s : library.sections())
      if ((s.flags & SHF_ALLOC) && !(s.flags & SHF_EXECINSTR) && s.address >= segment.address && s.address < segment.address + segment.bytes)
        return fmt::format("can run what lies in its section {}", s.name);
  }
  return "";
}

}  // namespace

std::string refused_layout(const ElfFile& library) {
  for (const ElfFile::Section& s : library.sections())
    if (std::string why = refused_section(s); !why.empty()) return why;
  for (const ElfFile::Segment& s : library.segments())
    if (std::string why = refused_segment(s); !why.empty()) return why;
  for (const ElfFile::Tag& t : library.dynamic_tags()) {
    if (!kTags.count(t.tag)) return fmt::format("tells the loader something ({:#x}) that kernels have no use for", t.tag);
    if (t.tag == DT_FLAGS && (t.value & DF_TEXTREL)) return "has its code changed when it is loaded: compile it with -fPIC";
  }
  return uncovered_code(library);
}

}  // namespace amdahl

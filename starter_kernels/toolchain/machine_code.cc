#include "starter_kernels/toolchain/machine_code.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "starter_kernels/toolchain/x86_instruction.h"

namespace amdahl {
namespace {

constexpr const char* kAdvice = "which no kernel needs (starter_kernels/toolchain/x86_instruction.cc lists what may be there): compute from the operands alone";

bool can_run(const ElfFile::Section& s) { return s.flags & SHF_EXECINSTR; }
bool holds(const ElfFile::Section& s, uint64_t address) { return address >= s.address && address - s.address < s.contents.size(); }

// Where code begins: functions, and sections, by address.
using Starts = std::map<uint64_t, std::string>;

Starts starts_of(const ElfFile& library) {
  Starts starts;
  for (const ElfFile::Section& s : library.sections())
    if (can_run(s)) starts.emplace(s.address, s.name);
  for (const auto& symbols : {library.all_symbols(), library.dynamic_symbols()})
    for (const ElfFile::Symbol& s : symbols)
      if (s.defined && (s.type == STT_FUNC || s.type == STT_GNU_IFUNC)) starts.insert_or_assign(s.address, std::string(s.name));
  return starts;
}

std::string function_at(const Starts& starts, uint64_t address) {
  const auto next = starts.upper_bound(address);
  return next == starts.begin() ? "?" : std::prev(next)->second;
}

// All instructions of a library: where each begins, and where branches lead.
class Sweep {
 public:
  Sweep(const ElfFile& library, const Starts& starts, bool may_ask_processor) : library_(library), starts_(starts), may_ask_processor_(may_ask_processor) {}

  std::string refusal() {
    for (const ElfFile::Section& s : library_.sections())
      if (can_run(s))
        if (std::string why = refused_section(s); !why.empty()) return why;
    std::sort(begins_.begin(), begins_.end());
    for (const auto& [address, name] : starts_)
      if (inside_of_one(address)) return fmt::format("has a function, {}, that begins inside of an instruction", name);
    for (const uint64_t target : targets_)
      if (inside_of_one(target)) return fmt::format("jumps into the middle of an instruction in {}", function_at(starts_, target));
    return "";
  }

 private:
  std::string refused_section(const ElfFile::Section& s) {
    for (uint64_t at = 0; at < s.contents.size();) {
      const uint64_t address = s.address + at;
      const X86Instruction i = x86_instruction(s.contents.substr(at), may_ask_processor_);
      if (!i.refused.empty()) return fmt::format("holds the instruction {} in {}, {}", i.refused, function_at(starts_, address), kAdvice);
      if (i.bytes == 0) return fmt::format("holds bytes in {} that are no instruction: keep data out of the code", function_at(starts_, address));
      begins_.push_back(address);
      at += i.bytes;
      if (i.leads) targets_.push_back(address + i.bytes + static_cast<uint64_t>(*i.leads));
    }
    return "";
  }

  // Code there was not looked at.
  bool inside_of_one(uint64_t address) const {
    const auto holds_it = [&](const ElfFile::Section& s) { return can_run(s) && holds(s, address); };
    return std::any_of(library_.sections().begin(), library_.sections().end(), holds_it) && !std::binary_search(begins_.begin(), begins_.end(), address);
  }

  const ElfFile& library_;
  const Starts& starts_;
  bool may_ask_processor_;
  std::vector<uint64_t> begins_;
  std::vector<uint64_t> targets_;
};

// GCC's own way to choose between versions of a function (target_clones) asks the processor what it is. It comes from GCC's archive; a kernel's
// text can write neither the name nor the instruction (source_rules.h).
bool holds_gcc_dispatch(const ElfFile& library) {
  const auto symbols = library.all_symbols();
  return std::any_of(symbols.begin(), symbols.end(), [](const ElfFile::Symbol& s) { return s.name == "__cpu_indicator_init"; });
}

// syscall, sysenter, int 0x80: at any byte.
std::string hidden_call(const ElfFile& library, const Starts& starts) {
  using namespace std::string_view_literals;
  for (const auto& [bytes, name] : {std::pair{"\x0f\x05"sv, "syscall"}, {"\x0f\x34"sv, "sysenter"}, {"\xcd\x80"sv, "int 0x80"}})
    for (const ElfFile::Section& s : library.sections()) {
      const size_t at = can_run(s) ? s.contents.find(bytes) : std::string_view::npos;
      if (at != std::string_view::npos)
        return fmt::format("holds the bytes of {} within another instruction in {}: write the number that they are part of differently", name,
                           function_at(starts, s.address + at));
    }
  return "";
}

std::string refused_arm_code(const ElfFile& library) {
  for (const ElfFile::Section& s : library.sections()) {
    if (!can_run(s)) continue;
    for (size_t at = 0; at + 4 <= s.contents.size(); at += 4) {
      uint32_t word;
      std::memcpy(&word, s.contents.data() + at, sizeof word);
      if (const std::string what = refused_arm_instruction(word); !what.empty()) return fmt::format("holds {} at {:#x}, {}", what, s.address + at, kAdvice);
    }
  }
  return "";
}

}  // namespace

// The classes of instructions that reach the system, by the encoding's top bits: exceptions, and moves from and to system registers.
std::string refused_arm_instruction(uint32_t word) {
  constexpr uint32_t kBreak = 0xd4200000;
  if ((word & 0xff000000) == 0xd4000000) return (word & 0xffe0001f) == kBreak ? "" : fmt::format("a call of the system or a debugger ({:08x})", word);
  if ((word & 0xffc00000) != 0xd5000000) return "";
  const bool hint = (word & 0xfffff01f) == 0xd503201f, barrier = (word & 0xfffff01f) == 0xd503301f;
  if (barrier) return "";
  const uint32_t kind = word >> 5 & 0x7f;
  if (hint) return kind == 2 || kind == 3 || kind == 4 || kind == 5 ? fmt::format("a wait for events ({:08x})", word) : "";  // WFE, WFI, SEV, SEVL
  const uint32_t reg = word & 0xffffffe0 & ~0x00200000u;                                                                     // without the direction
  for (const uint32_t allowed : {0xd51bd040u /* TPIDR_EL0 */, 0xd51b4400u /* FPCR */, 0xd51b4420u /* FPSR */, 0xd51b4200u /* NZCV */})
    if (reg == allowed) return "";
  // SMSTART and SMSTOP, which a kernel on matrix tiles needs.
  if ((word & 0xfffff01f) == 0xd503401f) return "";
  return fmt::format("a read or write of a system register ({:08x})", word);
}

std::string refused_code(const ElfFile& library, bool own) {
  if (library.machine() == EM_AARCH64) return refused_arm_code(library);
  if (library.machine() != EM_X86_64) return "is of a processor whose instructions are not known here";
  const Starts starts = starts_of(library);
  if (std::string why = Sweep(library, starts, holds_gcc_dispatch(library)).refusal(); !why.empty()) return why;
  return own ? "" : hidden_call(library, starts);
}

}  // namespace amdahl

#include "starter_kernels/toolchain/x86_instruction.h"

#include <Zydis/Zydis.h>

#include <set>

namespace amdahl {
namespace {

// Kinds of instructions that compute. Not here: calls of the system, interrupts, input and output, clocks and counters (SYSTEM), identity of the
// processor (CPUID is MISC, RDPID), entropy, other address spaces, caches (CLFLUSH is MISC, CLDEMOTE), waiting (WAITPKG; MWAIT is MISC), keys,
// virtual machines, transactions.
// clang-format off
const std::set<ZydisInstructionCategory> kKinds{
    ZYDIS_CATEGORY_ADOX_ADCX,     ZYDIS_CATEGORY_AES,           ZYDIS_CATEGORY_AMX_TILE,  ZYDIS_CATEGORY_AVX,         ZYDIS_CATEGORY_AVX2,
    ZYDIS_CATEGORY_AVX2GATHER,    ZYDIS_CATEGORY_AVX512,        ZYDIS_CATEGORY_AVX512_4FMAPS, ZYDIS_CATEGORY_AVX512_4VNNIW,
    ZYDIS_CATEGORY_AVX512_BITALG, ZYDIS_CATEGORY_AVX512_VBMI,   ZYDIS_CATEGORY_AVX512_VP2INTERSECT, ZYDIS_CATEGORY_BINARY,
    ZYDIS_CATEGORY_BITBYTE,       ZYDIS_CATEGORY_BLEND,         ZYDIS_CATEGORY_BMI1,      ZYDIS_CATEGORY_BMI2,        ZYDIS_CATEGORY_BROADCAST,
    ZYDIS_CATEGORY_CALL,          ZYDIS_CATEGORY_CMOV,          ZYDIS_CATEGORY_COMPRESS,  ZYDIS_CATEGORY_COND_BR,     ZYDIS_CATEGORY_CONFLICT,
    ZYDIS_CATEGORY_CONVERT,       ZYDIS_CATEGORY_DATAXFER,      ZYDIS_CATEGORY_EXPAND,    ZYDIS_CATEGORY_FCMOV,       ZYDIS_CATEGORY_FLAGOP,
    ZYDIS_CATEGORY_FMA4,          ZYDIS_CATEGORY_FP16,          ZYDIS_CATEGORY_GATHER,    ZYDIS_CATEGORY_GFNI,        ZYDIS_CATEGORY_IFMA,
    ZYDIS_CATEGORY_KMASK,         ZYDIS_CATEGORY_LOGICAL,       ZYDIS_CATEGORY_LOGICAL_FP, ZYDIS_CATEGORY_LZCNT,      ZYDIS_CATEGORY_MMX,
    ZYDIS_CATEGORY_NOP,           ZYDIS_CATEGORY_PCLMULQDQ,     ZYDIS_CATEGORY_POP,       ZYDIS_CATEGORY_PREFETCH,    ZYDIS_CATEGORY_PREFETCHWT1,
    ZYDIS_CATEGORY_PUSH,          ZYDIS_CATEGORY_RET,           ZYDIS_CATEGORY_ROTATE,    ZYDIS_CATEGORY_SCATTER,     ZYDIS_CATEGORY_SEMAPHORE,
    ZYDIS_CATEGORY_SETCC,         ZYDIS_CATEGORY_SHA,           ZYDIS_CATEGORY_SHIFT,     ZYDIS_CATEGORY_SSE,         ZYDIS_CATEGORY_STRINGOP,
    ZYDIS_CATEGORY_STTNI,         ZYDIS_CATEGORY_TBM,           ZYDIS_CATEGORY_UFMA,      ZYDIS_CATEGORY_UNCOND_BR,   ZYDIS_CATEGORY_VAES,
    ZYDIS_CATEGORY_VBMI2,         ZYDIS_CATEGORY_VEX,           ZYDIS_CATEGORY_VFMA,      ZYDIS_CATEGORY_VPCLMULQDQ,  ZYDIS_CATEGORY_WIDENOP,
    ZYDIS_CATEGORY_X87_ALU,       ZYDIS_CATEGORY_XOP};
// clang-format on

// Of other kinds: fences, a spinning thread's pause, what follows a call that does not return, marks where branches may land.
const std::set<ZydisMnemonic> kOthers{ZYDIS_MNEMONIC_LEA,   ZYDIS_MNEMONIC_LEAVE, ZYDIS_MNEMONIC_LFENCE, ZYDIS_MNEMONIC_MFENCE,  ZYDIS_MNEMONIC_SFENCE,
                                      ZYDIS_MNEMONIC_PAUSE, ZYDIS_MNEMONIC_UD2,   ZYDIS_MNEMONIC_INT3,   ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_ENDBR32};

// Of those kinds: transactions and whether one runs, the processor's flags as a whole (traps among them), returns from interrupts.
const std::set<ZydisMnemonic> kNotThese{ZYDIS_MNEMONIC_XBEGIN, ZYDIS_MNEMONIC_XEND,  ZYDIS_MNEMONIC_XABORT, ZYDIS_MNEMONIC_XTEST,
                                        ZYDIS_MNEMONIC_POPF,   ZYDIS_MNEMONIC_POPFD, ZYDIS_MNEMONIC_POPFQ,  ZYDIS_MNEMONIC_IRET,
                                        ZYDIS_MNEMONIC_IRETD,  ZYDIS_MNEMONIC_IRETQ, ZYDIS_MNEMONIC_CLI,    ZYDIS_MNEMONIC_STI};

bool asks_processor(ZydisMnemonic m) { return m == ZYDIS_MNEMONIC_CPUID || m == ZYDIS_MNEMONIC_XGETBV; }

// mov to a segment register.
bool changes_segment(const ZydisDecodedInstruction& i) { return i.mnemonic == ZYDIS_MNEMONIC_MOV && i.opcode == 0x8e; }

bool allowed(const ZydisDecodedInstruction& i) {
  if (kOthers.count(i.mnemonic)) return true;
  return kKinds.count(i.meta.category) && !kNotThese.count(i.mnemonic) && !(i.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) && !changes_segment(i) &&
         i.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR;
}

}  // namespace

X86Instruction x86_instruction(std::string_view code, bool may_ask_processor) {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  ZydisDecodedInstruction i;
  X86Instruction result;
  if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, nullptr, code.data(), code.size(), &i))) return result;
  result.bytes = i.length;
  if (!allowed(i) && !(may_ask_processor && asks_processor(i.mnemonic))) result.refused = ZydisMnemonicGetString(i.mnemonic);
  if (i.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE && (i.attributes & ZYDIS_ATTRIB_IS_RELATIVE)) result.leads = i.raw.imm[0].value.s;
  return result;
}

}  // namespace amdahl

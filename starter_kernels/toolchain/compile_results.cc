#include "starter_kernels/toolchain/compile_results.h"

#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "base/elf.h"

namespace amdahl {

CompileResult failed(std::string code, std::string message) {
  CompileResult r;
  r.code = std::move(code);
  r.message = std::move(message);
  return r;
}

CompileResult found(const std::string& library) {
  CompileResult r;
  r.ok = r.cached = true;
  r.library = library;
  return r;
}

bool is_there(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && there.st_size > 0 && access(path.c_str(), R_OK) == 0;
}

bool is_whole(const std::string& library) { return is_there(library) && ElfFile::read(library); }

std::string first_error(const std::string& output) {
  size_t at = output.find("error:");
  if (at == std::string::npos) at = 0;
  std::string line = output.substr(at, output.find('\n', at) - at);
  return line.substr(0, 300);
}

// Compilers put their limits in words. A source may write the same words (#error): it only gives its failure another name.
bool hit_a_limit(const SubprocessResult& r) {
  if (r.timed_out || r.signal != 0) return true;
  for (const char* words : {"virtual memory exhausted", "out of memory", "Cannot allocate memory", "bad_alloc", "memory exhausted", "File size limit exceeded",
                            "File too large", "terminated program", "terminated with signal"})
    if (r.output.find(words) != std::string::npos) return true;
  return false;
}

bool write_source(const Target& target, const Variant& variant, std::string* text, CompileResult* failure) {
  try {
    *text = target.source(variant);
    return true;
  } catch (const std::exception& e) {
    *failure = failed("compile-error", e.what());
    return false;
  }
}

}  // namespace amdahl

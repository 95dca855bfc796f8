#include "base/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>

#include "base/error.h"

namespace amdahl::cuda {
namespace {

using Program = void*;

// Newest first: what version 12 compiles, its successors do.
std::vector<std::string> places() {
  std::vector<std::string> folders{""};  // the loader's own
  if (const char* home = std::getenv("CUDA_HOME"); home && *home) folders.push_back(std::string(home) + "/lib64/");
  folders.push_back("/usr/local/cuda/lib64/");
  std::vector<std::string> all;
  if (const char* named = std::getenv("AMDAHL_NVRTC"); named && *named) return {named};
  for (const std::string& folder : folders)
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) all.push_back(folder + name);
  return all;
}

}  // namespace

Nvrtc::Nvrtc() {
  for (const std::string& place : places()) {
    library_ = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_) break;
  }
  if (!library_)
    throw Error(ExitCode::kNoCompiler,
                "no compiler for NVIDIA's cards (libnvrtc.so.12 or .13): install the CUDA toolkit (apt-get install nvidia-cuda-toolkit, or pip install "
                "nvidia-cuda-nvrtc), or set AMDAHL_NVRTC to the library's path");
  link_map* map = nullptr;
  dlinfo(library_, RTLD_DI_LINKMAP, &map);
  path_ = map && map->l_name ? map->l_name : "";
}

template <typename F>
F* Nvrtc::function(const char* name) const {
  auto* found = reinterpret_cast<F*>(dlsym(library_, name));
  if (!found) throw Error(ExitCode::kNoCompiler, fmt::format("{} lacks {}: NVRTC 12 or later is needed", path_, name));
  return found;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  function<int(int*, int*)>("nvrtcVersion")(&major, &minor);
  return fmt::format("NVRTC {}.{}", major, minor);
}

NvrtcResult Nvrtc::compile(const std::string& text, const std::string& architecture) const {
  NvrtcResult result;
  Program program = nullptr;
  if (function<int(Program*, const char*, const char*, int, const char* const*, const char* const*)>("nvrtcCreateProgram")(&program, text.c_str(), "kernel.cu",
                                                                                                                           0, nullptr, nullptr) != 0) {
    result.log = "the compiler does not take the text";
    return result;
  }
  const std::string target = "--gpu-architecture=" + architecture;
  const char* const options[] = {target.c_str(), "--std=c++20", "--disable-warnings"};
  result.ok = function<int(Program, int, const char* const*)>("nvrtcCompileProgram")(program, 3, options) == 0;
  const auto bytes_of = [&](const char* size, const char* get) {
    size_t bytes = 0;
    if (function<int(Program, size_t*)>(size)(program, &bytes) != 0) return std::string();
    std::string all(bytes, '\0');
    function<int(Program, char*)>(get)(program, all.data());
    return all;
  };
  const auto text_of = [&](const char* size, const char* get) {
    std::string text = bytes_of(size, get);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  };
  result.log = text_of("nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
  if (result.ok) {
    result.ptx = text_of("nvrtcGetPTXSize", "nvrtcGetPTX");
    result.code = architecture.starts_with("compute_") ? result.ptx : bytes_of("nvrtcGetCUBINSize", "nvrtcGetCUBIN");
  }
  function<int(Program*)>("nvrtcDestroyProgram")(&program);
  return result;
}

}  // namespace amdahl::cuda

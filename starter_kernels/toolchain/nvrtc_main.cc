// amdahl-nvrtc ARCHITECTURE IN OUT: compiles one kernel's text for an NVIDIA card; what it was assembled from goes to OUT.ptx. A process of its own, which
// the toolchain closes in: a text is nobody's that this program trusts, and NVRTC reads whatever file it names. Errors go to stdout, as a compiler's do.
// --version names the compiler.

#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "base/cuda/nvrtc.h"

int main(int argc, char** argv) {
  try {
    const amdahl::cuda::Nvrtc nvrtc;
    if (argc == 2 && std::string(argv[1]) == "--version") {
      fmt::print("{}\n", nvrtc.version());
      return 0;
    }
    if (argc != 4) {
      fmt::print("usage: amdahl-nvrtc ARCHITECTURE IN OUT\n");
      return 2;
    }
    std::ifstream in(argv[2], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const amdahl::cuda::NvrtcResult result = nvrtc.compile(text, argv[1]);
    if (!result.ok) {
      fmt::print("{}\n", result.log);
      return 1;
    }
    std::ofstream out(argv[3], std::ios::binary), ptx(std::string(argv[3]) + ".ptx", std::ios::binary);
    out << result.code;
    ptx << result.ptx;
    return out.flush() && ptx.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}

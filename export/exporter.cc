#include "export/exporter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "export/compiled.h"
#include "export/cxx.h"
#include "export/cxx_cuda.h"
#include "export/hf_kernels_cuda.h"
#include "export/onnx.h"
#include "export/onnxruntime.h"
#include "export/plan_json.h"
#include "export/pytorch.h"
#include "export/pytorch_cuda.h"

namespace amdahl {

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"cxx",
       "C header, C++ sources, weights, CMake project, example and self-test: needs a C++ compiler and OpenMP alone, or of a card the driver",
       "cmake -S . -B build && cmake --build build && ./build/selftest .",
       {{"cpu", write_cxx, true}, {"cuda", write_cxx_cuda}}},
      {"pytorch",
       "the same, and an extension that makes it an operator of PyTorch, with a module that loads it; of a card a module in Python alone",
       "cmake -S python -B python/build -DPython3_EXECUTABLE=$(which python3) && cmake --build python/build && python3 python/selftest.py",
       {{"cpu", write_pytorch}, {"cuda", write_pytorch_cuda}}},
      {"hf-kernels",
       "a repository as the kernels hub has them: an operator of PyTorch in Python, on a library that is built already",
       "python3 selftest.py",
       {{"cuda", write_hf_kernels}}},
      {"onnxruntime",
       "an ONNX file whose nodes are the tuned steps, and the custom operators that compute them inside ONNX Runtime",
       "cmake -S . -B build && cmake --build build && python3 selftest.py",
       {{"cpu", write_onnxruntime}}},
      {"compiled",
       "kernels as they were compiled and proven, weights, and a library that runs them on this kind of processor: no compiler; what the Python package loads",
       "",
       {{"cpu", write_compiled}}},
      {"onnx", "the planned model in standard operators, for tools: what the plan decided is noted at every node", "python3 selftest.py", {{"", write_onnx}}},
      {"json", "the plan as data: steps, tensors, knobs, and the text of every kernel", "", {{"", write_plan_json, true}}},
  };
  return formats;
}

const ExportFormat* find_export_format(std::string_view name) {
  for (const ExportFormat& format : export_formats())
    if (format.name == name) return &format;
  return nullptr;
}

const ExportWriter* find_writer(const ExportFormat& format, std::string_view backend) {
  for (const ExportWriter& writer : format.writers)
    if (writer.backend.empty() || writer.backend == backend) return &writer;
  return nullptr;
}

const ExportFormat& export_format_for(std::string_view backend) {
  const std::vector<ExportFormat>& all = export_formats();
  return *std::find_if(all.begin(), all.end(), [&](const ExportFormat& f) { return find_writer(f, backend); });
}

std::string refused_export(const ExportFormat& format, std::string_view backend) {
  if (find_writer(format, backend)) return "";
  std::vector<std::string_view> packaged, others;
  for (const ExportWriter& writer : format.writers) packaged.push_back(writer.backend);
  for (const ExportFormat& f : export_formats())
    if (find_writer(f, backend)) others.push_back(f.name);
  return fmt::format("format {} packages kernels of a {}, and these are made for {}: give one of {}", format.name, fmt::join(packaged, " or "), backend,
                     fmt::join(others, ", "));
}

namespace {

// An export of one of these names would hide a header (NAME.h), a library (libNAME.so) or a target of the build.
bool is_taken(std::string_view name) {
  // clang-format off
  for (std::string_view taken : {"assert", "complex", "cpuid", "ctype", "errno", "fenv", "float", "inttypes", "limits", "locale", "malloc", "math", "memory",
                                 "new", "omp", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib",
                                 "string", "threads", "time", "uchar", "unistd", "wchar",  // headers
                                 "c", "dl", "gcc", "gomp", "iomp5", "m", "pthread", "rt",   // libraries
                                 "all", "clean", "depend", "edit_cache", "example", "help", "install", "list_install_components", "package",
                                 "rebuild_cache", "selftest", "test"})
    if (name == taken) return true;
  // clang-format on
  return false;
}

}  // namespace

std::string c_identifier(std::string_view name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) || is_taken(out)) out = "model_" + out;
  return out;
}

}  // namespace amdahl

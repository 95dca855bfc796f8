#include "export/exporter.h"

#include <cctype>

#include "export/cxx.h"

namespace amdahl {

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"cxx", "C header, C++ sources, weights, CMake project, example and self-test: needs a C++ compiler and OpenMP alone",
       write_cxx},
  };
  return formats;
}

const ExportFormat* find_export_format(std::string_view name) {
  for (const ExportFormat& format : export_formats())
    if (format.name == name) return &format;
  return nullptr;
}

std::string c_identifier(std::string_view name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "model_" + out;
  return out;
}

}  // namespace amdahl

#pragma once
// A model on a card as a module of Python: what the formats share that hand it to PyTorch. It calls the C library of the cxx format by ctypes.

#include "export/cxx_cuda.h"

namespace amdahl {

struct CudaPythonModule {
  std::string folder;            // of the export, that it is written to
  std::string package;           // what it is imported as
  std::string name_space;        // of its operator: torch.ops.NAMESPACE.run
  std::string library, weights;  // as Python's expressions: the name of the C library's file in `folder`, and the way from `folder` to weights.bin
  std::string build_hint;        // what gets the library that is missing
};

// The words of `sources`, and those of a module's texts: PACKAGE, NAMESPACE, LIBRARY, WEIGHTS, BUILD_HINT, CARD_NOTE, USE_NOTE.
Words cuda_python_words(const CudaPythonModule& module, const CudaSources& sources);
void write_cuda_python(ExportFolder& folder, const CudaPythonModule& module, const Words& words);
// selftest.py and recorded_case.py in `at` ("" or "python/"); `packages` and `recorded`: where the module and selftest.bin lie from there.
void write_cuda_python_selftest(ExportFolder& folder, const std::string& at, const std::string& packages, const std::string& recorded, Words words);

}  // namespace amdahl

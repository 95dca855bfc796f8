#pragma once
// A model's program for an NVIDIA card as constant tables: which bytes of the weights lie where on the card, what every kernel is called with, and every
// launch with its grid. An exported library reads them as they are; it decides nothing about memory itself.

#include <string>

#include "export/cuda_kernels.h"
#include "export/exporter.h"
#include "plan/program.h"

namespace amdahl {

// src/model_tables.h of the model `name`. Throws Error(kInternal) for a kernel that packs what is no constant.
std::string cuda_model_tables(const ExportRequest& request, const Program& program, const CudaKernels& kernels, const std::string& name, uint64_t weights_hash);

}  // namespace amdahl

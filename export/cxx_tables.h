#pragma once
// What libraries of the cxx format say of a model, whatever they run on: names and shapes of inputs and outputs, what its steps compute, its weights.

#include <string>
#include <vector>

#include "export/export_folder.h"
#include "export/exporter.h"
#include "plan/program.h"

namespace amdahl {

// NAME_input_count, NAME_inputs and the same of outputs, as include/NAME.h declares them.
std::string tensor_tables(const Graph& graph, const std::string& name);
// NAME_step_count and NAME_steps, in the order of the calls; CALLS must be known. `files` of kernels, by Call::kernel.
std::string step_table(const ExportRequest& request, const Program& program, const std::vector<std::string>& files, const std::string& name);
// For the comment at the head of include/NAME.h: a line an input or output.
std::string signature_lines(const Graph& graph);
// weights.bin: the blob's bytes, zeros between them. Returns the hash that a model checks them by.
uint64_t write_weights(ExportFolder& folder, const Blob& blob);

}  // namespace amdahl

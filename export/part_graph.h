#pragma once
// A plan as a graph: a node a part (export/parts.h), a value a buffer that passes between parts. What the plan treats as one storage
// under several shapes is one value here, so no node stands for a view.

#include "export/exporter.h"
#include "export/parts.h"

namespace amdahl {

// Names and types of inputs and outputs are those of request.graph. The nodes have the domain `domain`, name_of_part() as operator, and
// the attributes `part` (index into `parts`), `plan` (`identity`), `kernels` (their files, in order) and `computes` (names of the
// model's nodes). An output that shares its storage with an input, a weight or an output before it is a Reshape of that.
Graph part_graph(const ExportRequest& request, const Program& program, const Blob& blob, const std::vector<Part>& parts, const std::vector<CxxKernel>& kernels,
                 const std::string& domain, int64_t identity);

}  // namespace amdahl

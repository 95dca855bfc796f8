#pragma once
// A kept plan out of the program, in one of several formats.

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "starter_kernels/cpu/cpu_target.h"

namespace amdahl {

// Inputs and the outputs that are right for them, for the export's self-test.
struct SelfTestCase {
  std::vector<Tensor> inputs;    // in the order of graph.inputs
  std::vector<Tensor> expected;  // float64 oracle, rounded; in the order of graph.outputs
  double relative_norm = 0;      // |out - expected| / |expected| that the plan reached here: the limit is twice this, or what rounding elsewhere may come to
};

// Of a graph of several shapes (graph/models/buckets.h): whether smaller inputs are right in the next larger shape, zeros appended.
struct PaddingFinding {
  struct Case {
    std::vector<Tensor> inputs, expected;  // at a shape that was not tuned; float64 oracle
  };
  std::vector<Case> cases;  // that were computed right so, smallest first
  std::string refusal;      // why it is not done; "": it is
};

struct ExportRequest {
  const Graph& graph;
  const Plan& plan;
  std::string name;       // of the model: a C identifier is made from it
  std::string directory;  // created; must be empty or hold an earlier export
  SelfTestCase self_test;
  double milliseconds = 0;              // median of the plan on the machine that tuned it
  std::string provenance;               // one line: model, machine, session
  PaddingFinding padding = {};          // where the graph has several shapes
  const Target& target = cpu_target();  // that the plan is made for
  std::string cache_dir = {};           // of compiled kernels, for formats that carry them
};

struct ExportWriter {
  std::string_view backend;  // Target::backend whose kernels it packages; "": it takes any plan, since it writes no library
  // Throws Error(kIo) when the directory cannot be written. Returns the files written, relative to the directory.
  std::vector<std::string> (*write)(const ExportRequest&);
  bool several_shapes = false;  // writes graphs of several shapes; the others want one of them
};

struct ExportFormat {
  std::string_view name;
  std::string_view summary;
  std::string_view next;  // what to type in the folder afterwards; "" nothing
  std::vector<ExportWriter> writers;
};

const std::vector<ExportFormat>& export_formats();
const ExportFormat* find_export_format(std::string_view name);
// nullptr: a plan for `backend` cannot leave in this format.
const ExportWriter* find_writer(const ExportFormat& format, std::string_view backend);
// The first that takes a plan for `backend`.
const ExportFormat& export_format_for(std::string_view backend);
// "", or why find_writer() finds none, and which formats a plan for `backend` can leave in.
std::string refused_export(const ExportFormat& format, std::string_view backend);

// Letters, digits and '_', and no name that a compiler or a build has for something else: "math" becomes "model_math".
std::string c_identifier(std::string_view name);

}  // namespace amdahl

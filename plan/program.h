#pragma once
// The executable form of a plan or of a window: buffers with addresses planned, kernel libraries, calls in order. Plain
// data that can be sent to a worker process; knows neither graph nor rewrites.

#include <string>
#include <vector>

#include "plan/plan.h"

namespace amdahl {

struct Program {
  enum class Role { kInput, kOutput, kTemporary, kConstant };
  struct Buffer {
    std::string name;
    DType dtype = DType::kF32;
    Shape shape;  // logical
    std::string format;
    Role role = Role::kTemporary;
    size_t bytes = 0;           // storage, format's padding included
    int64_t arena_offset = -1;  // temporaries: place in the arena (64-byte aligned)
    // Constants: bytes in the constants blob at this offset …
    int64_t blob_offset = -1;
    // … or, when -1, made from a seed: normal numbers of this mean and deviation (weights of a window under test).
    double mean = 0, deviation = 1;
    // Window programs: the number in WindowIo::inputs' distinct values (inputs) or WindowIo::constants (constants), so that
    // two programs of one window draw the same numbers for the same tensor.
    int source = -1;
  };
  struct Call {
    int kernel = 0;                    // index into libraries
    int step = 0;                      // index of the plan's step, for per-step times
    std::vector<int> inputs, outputs;  // buffer numbers
  };
  std::vector<Buffer> buffers;
  std::vector<std::string> libraries;  // paths of compiled kernels
  std::vector<Call> calls;
  std::vector<int> inputs, outputs;  // buffer numbers, in the order of the graph's (window's) inputs and outputs
  size_t arena_bytes = 0;
  size_t blob_bytes = 0;
  int threads = 1;
};

// Where constants' bytes are taken from when a program is made.
struct Blob {
  std::vector<std::pair<int64_t, Tensor>> pieces;  // offset (64-byte aligned), tensor
  size_t bytes = 0;
};

// The whole model. `library_of[i]` is the compiled kernel of plan.steps[i]. All constants go to the blob. Inputs and outputs are row-major.
Program model_program(const Graph& graph, const Plan& plan, const std::vector<std::string>& library_of, Blob* blob);

// One window alone: steps that compute window outputs from window inputs (`io` of the incumbent's window; `steps` the
// incumbent's or a challenger's). Structural constants go to the blob, weights are seeded.
Program window_program(const Graph& graph, const WindowIo& io, const std::vector<Step>& steps, const std::vector<std::string>& library_of, int threads,
                       Blob* blob);

void to_json(Json& j, const Program& p);
void from_json(const Json& j, Program& p);

}  // namespace amdahl

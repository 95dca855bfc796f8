#pragma once
// The runtimes of others that we know how to run, an explicit list: what each needs of an interpreter, and its command.

#include <string>
#include <vector>

#include "cli/peers/interpreter.h"
#include "cli/peers/turns.h"

namespace amdahl {

struct PeerRequest {
  std::string arms;    // folder of their texts (write_arms)
  std::string model;   // an ONNX file
  std::string inputs;  // folder of N.npy and names.txt
  std::string torch;   // PyTorch's definition: "" where there is none, a file, or the name of a shipped model
  int threads = 1;
  bool bf16 = false;    // rows of those that round to bfloat16 too
  std::string no_bf16;  // why this machine gains nothing by it; "" where it does
  bool max_autotune = false;
};

// Of all peers in the order of the list: also of those that cannot be measured, with the reason and with what to type. `only`: names of arms (peer_names); empty:
// those that the request asks for.
std::vector<ArmSpec> peer_specs(const Interpreter& interpreter, const PeerRequest& request, const std::vector<std::string>& only);
std::vector<std::string> peer_names();

// One that a user brings: `command` gets the model, the folder of inputs and the number of threads behind it, and runs in a shell. A name that ends in "bf16" is one
// that rounds.
ArmSpec user_spec(const std::string& name, const std::string& command, const PeerRequest& request);

// Threads of OpenMP that stay where they are put: of our own arm, and of PyTorch, which leaves that to its environment.
std::vector<std::string> bound_threads(int threads);

}  // namespace amdahl

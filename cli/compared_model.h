#pragma once
// What `amdahl compare` compares: a session or a model, as our arm and others' runtimes are given it.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "cli/peers/turns.h"
#include "experiments/session.h"
#include "graph/models/builders.h"

namespace amdahl {

struct CompareSubject {
  std::string session;                    // "" where a model is given
  std::string model_file;                 // of a session
  ModelArguments model;                   // else
  std::optional<std::string> only_shape;  // of a session of several
  std::optional<int> threads;             // as they were asked for
  std::vector<std::string> inputs;        // NAME=FILE
};

struct ComparedModel {
  std::unique_ptr<Session> session;  // may be written; null where a model is compared
  std::string name;                  // "builtin:gpt2" or a path
  std::string shape;                 // "" of a session of one
  int64_t plan = 0;
  int threads = 1;
  bool bf16 = false;  // our plan may round products
  const Backend* backend = nullptr;
  Graph graph;                     // of that shape
  std::vector<Tensor> inputs;      // by the graph's
  std::vector<std::string> words;  // by which `amdahl peer-arm` is told of it
  BuilderSizes sizes;              // of a builtin
};

// Throws Error.
ComparedModel open_compared(const CompareSubject& subject, const GlobalOptions& global);

// The model as an ONNX file, written below `folder` where it is a builtin; and the inputs as N.npy and names.txt in a new folder there, which is returned.
std::string model_file_of(const ComparedModel& model, const std::string& folder);
std::string write_inputs(const ComparedModel& model, const std::string& folder);

// Our arms: the kept plan of a session ("tuned") or else the starter plan ("starter"), and behind it the session's starter plan where that is asked for too.
std::vector<ArmSpec> our_specs(const ComparedModel& model, const std::string& inputs, bool starter_too, const GlobalOptions& global);

}  // namespace amdahl

#pragma once
// What a Python interpreter has of the runtimes that we compare with. It is asked, nothing is installed.

#include <map>
#include <optional>
#include <string>

namespace amdahl {

struct Interpreter {
  std::string program;                             // as it was named, for commands to type: "python3", "/opt/venv/bin/python"
  std::map<std::string, std::string> packages;     // distribution to version: "torch", "2.9.0"
  std::map<std::string, std::string> torch_names;  // shipped models that have a definition in PyTorch, and the package that it takes

  // Of the distribution, or of a build of it under a longer name: onnxruntime-openvino.
  std::optional<std::string> version_of(const std::string& name) const;
  // What to type for packages that are missing: "python3 -m pip install numpy openvino".
  std::string install_text(const std::string& names) const;
};

// `program` is looked up in PATH; `arms` is the folder of the arms' texts. Throws Error: kUsage when `program` was asked for and is none, kIo when there is no
// python3 at all (`asked_for` false).
Interpreter ask_interpreter(const std::string& program, bool asked_for, const std::string& arms);

// Writes the texts of the arms below `folder`, and returns where they are.
std::string write_arms(const std::string& folder);

}  // namespace amdahl

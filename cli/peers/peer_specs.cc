#include "cli/peers/peer_specs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace amdahl {
namespace {

struct Peer {
  std::string_view arm, title, form, package, script, word, precision;  // `word`: by which the script knows the form
  bool always = true;                                                   // else where it is asked for by name or by an option
};

constexpr std::string_view kTorch = "torch", kMaxAutotune = "max-autotune";

const std::vector<Peer>& peers() {
  static const std::vector<Peer> list{
      {"onnxruntime", "ONNX Runtime", "", "onnxruntime", "onnxruntime_arm.py", "optimised", "f32"},
      {"onnxruntime plain", "ONNX Runtime", "optimiser off", "onnxruntime", "onnxruntime_arm.py", "unoptimised", "f32"},
      {"openvino f32", "OpenVINO", "", "openvino", "openvino_arm.py", "", "f32"},
      {"openvino bf16", "OpenVINO", "", "openvino", "openvino_arm.py", "", "bf16"},
      {"pytorch eager f32", "PyTorch", "eager", kTorch, "torch_arm.py", "eager", "f32"},
      {"pytorch eager bf16", "PyTorch", "eager", kTorch, "torch_arm.py", "eager", "bf16"},
      {"pytorch compiled f32", "PyTorch", "compiled", kTorch, "torch_arm.py", "compiled", "f32"},
      {"pytorch compiled bf16", "PyTorch", "compiled", kTorch, "torch_arm.py", "compiled", "bf16"},
      {"pytorch max-autotune f32", "PyTorch", "max-autotune", kTorch, "torch_arm.py", kMaxAutotune, "f32", false},
      {"pytorch max-autotune bf16", "PyTorch", "max-autotune", kTorch, "torch_arm.py", kMaxAutotune, "bf16", false},
  };
  return list;
}

bool wanted(const Peer& peer, const PeerRequest& request, const std::vector<std::string>& only) {
  if (!only.empty()) return std::find(only.begin(), only.end(), peer.arm) != only.end();
  return (peer.precision != "bf16" || request.bf16) && (peer.always || request.max_autotune);
}

// Weights of a saved module are the model's own; what a name or a function makes has others.
bool has_own_weights(const std::string& torch) { return torch.ends_with(".py") || torch.find('/') == std::string::npos; }

// Why it is not measured, and what to type.
void refuse(ComparedArm& row, const Peer& peer, const Interpreter& interpreter, const PeerRequest& request) {
  const auto set = [&](std::string reason, std::string advice) {
    row.reason = std::move(reason);
    row.advice = std::move(advice);
  };
  const std::string package(peer.package);
  std::vector<std::string> missing;
  for (const std::string& name : {package, std::string("numpy")})
    if (!interpreter.version_of(name)) missing.push_back(name);
  if (peer.package == kTorch)
    if (const auto definition = interpreter.torch_names.find(request.torch); definition != interpreter.torch_names.end())
      if (!interpreter.version_of(definition->second)) missing.push_back(definition->second);
  if (!missing.empty())
    return set(fmt::format("{} has no {}", interpreter.program, fmt::join(missing, ", no ")),
               interpreter.install_text(fmt::format("{}", fmt::join(missing, " "))));
  if (peer.package == kTorch && request.torch.empty()) return set("PyTorch does not read ONNX files", "--torch FILE gives its own definition");
  if (peer.precision == "bf16" && !request.no_bf16.empty()) return set(request.no_bf16, "");
}

ArmSpec spec_of(const Peer& peer, const Interpreter& interpreter, const PeerRequest& request) {
  ArmSpec spec;
  spec.row.arm = peer.arm;
  spec.row.title = peer.title;
  spec.row.form = peer.form;
  spec.row.version = interpreter.version_of(std::string(peer.package)).value_or("");
  spec.row.threads = request.threads;
  spec.row.precision = peer.precision;
  refuse(spec.row, peer, interpreter, request);
  const bool torch = peer.package == kTorch;
  spec.command.argv = {interpreter.program, fmt::format("{}/{}", request.arms, peer.script), torch ? request.torch : request.model, request.inputs,
                       std::to_string(request.threads)};
  for (const std::string_view word : {peer.word, peer.package == "onnxruntime" ? std::string_view{} : peer.precision})
    if (!word.empty()) spec.command.argv.emplace_back(word);
  if (torch) spec.command.environment = bound_threads(request.threads);
  spec.own_reference = torch && has_own_weights(request.torch);
  return spec;
}

}  // namespace

std::vector<ArmSpec> peer_specs(const Interpreter& interpreter, const PeerRequest& request, const std::vector<std::string>& only) {
  std::vector<ArmSpec> specs;
  for (const Peer& peer : peers())
    if (wanted(peer, request, only)) specs.push_back(spec_of(peer, interpreter, request));
  return specs;
}

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const Peer& peer : peers()) names.emplace_back(peer.arm);
  return names;
}

ArmSpec user_spec(const std::string& name, const std::string& command, const PeerRequest& request) {
  ArmSpec spec;
  spec.row.arm = spec.row.title = name;
  spec.row.threads = request.threads;
  spec.row.precision = name.ends_with("bf16") ? "bf16" : "f32";
  spec.command.argv = {"sh", "-c", "exec " + command + " \"$@\"", "sh", request.model, request.inputs, std::to_string(request.threads)};
  return spec;
}

std::vector<std::string> bound_threads(int threads) {
  return {fmt::format("OMP_NUM_THREADS={}", threads), "OMP_PROC_BIND=true", "OMP_PLACES=cores", "OMP_DYNAMIC=false"};
}

}  // namespace amdahl

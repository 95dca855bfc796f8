#include "cli/peers/interpreter.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/embedded.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/process_limits.h"
#include "base/shell_word.h"
#include "base/subprocess.h"

namespace amdahl {

const std::vector<EmbeddedText>& peer_arms();  // cli/peers/arms/*

namespace {

constexpr double kSecondsToAnswer = 60;

// Interpreters print warnings beside what they are asked for.
nlohmann::json answer_in(const std::string& output) {
  const size_t end = output.find_last_not_of(" \r\n"), begin = end == std::string::npos ? end : output.rfind('\n', end);
  const std::string line = end == std::string::npos ? "" : output.substr(begin == std::string::npos ? 0 : begin + 1);
  return nlohmann::json::parse(line, nullptr, false);
}

}  // namespace

std::optional<std::string> Interpreter::version_of(const std::string& name) const {
  if (const auto found = packages.find(name); found != packages.end()) return found->second;
  const auto build = packages.lower_bound(name + "-");
  return build != packages.end() && build->first.starts_with(name + "-") ? std::optional(build->second) : std::nullopt;
}

std::string Interpreter::install_text(const std::string& names) const { return fmt::format("{} -m pip install {}", shell_word(program), names); }

Interpreter ask_interpreter(const std::string& program, bool asked_for, const std::string& arms) {
  const SubprocessResult result = run_subprocess({program, arms + "/installed.py"}, {kSecondsToAnswer});
  const nlohmann::json answer = answer_in(result.output);
  if (result.ok() && answer.is_object() && answer.contains("packages"))
    return {program, answer.at("packages").get<std::map<std::string, std::string>>(), answer.value("torch_names", std::map<std::string, std::string>{})};
  if (!asked_for)
    throw Error(ExitCode::kIo,
                fmt::format("no {} that runs on the path: name the interpreter that has onnxruntime, openvino or torch with --python PROGRAM "
                            "(apt-get install python3-venv && python3 -m venv DIR && DIR/bin/pip install numpy onnxruntime openvino torch makes one)",
                            program));
  const std::string why = result.exit_code == 127 ? "it cannot be started" : result.timed_out ? "it does not answer" : shown(result.output);
  throw Error(ExitCode::kUsage, fmt::format("--python {}: no Python interpreter ({}): give the path of one, as DIR/bin/python", shown(program), why));
}

std::string write_arms(const std::string& folder) {
  const std::string arms = folder + "/arms";
  std::filesystem::create_directories(arms);
  for (const EmbeddedText& text : peer_arms()) {
    const std::string path = fmt::format("{}/{}", arms, text.name);
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    out << text.text;
    if (!out.flush()) throw machine_refuses("write " + path, errno);
  }
  return arms;
}

}  // namespace amdahl

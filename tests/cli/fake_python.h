#pragma once
// An interpreter that has what a test wants: a shell script that answers as cli/peers/arms/*.py would, without Python or any runtime.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace amdahl::testing {

// What an arm does, as lines of sh. `serve MS` says that it is ready and that every run took MS.
struct FakePython {
  std::string packages = R"("numpy": "2.1", "onnxruntime": "1.2.3", "openvino": "2026.1")";
  std::string optimised = "serve 1000", plain = "serve 2000", openvino = "serve 3000", torch = "serve 4000";
  std::string torch_names;  // R"("gpt2-mini": "numpy")"

  // Writes it to `path`, which is returned.
  std::string write(const std::string& path) const {
    std::ofstream(path) << fmt::format(R"sh(#!/bin/sh
nothing() {{ echo none; }}
serve() {{
  echo ready 5
  while read -r word argument; do
    case $word in
      run) line=times; for _ in $(seq "$argument"); do line="$line $1"; done; echo "$line" ;;
      save | reference) ${{SAVE:-nothing}} "$argument" ;;
      quit) exit ;;
    esac
  done
}}
case $(basename "$1") in
  installed.py) echo 'a warning'; echo '{{"packages": {{{}}}, "torch_names": {{{}}}}}' ;;
  onnxruntime_arm.py) if [ "$5" = unoptimised ]; then {}; else {}; fi ;;
  openvino_arm.py) {} ;;
  torch_arm.py) {} ;;
esac
)sh",
                                       packages, torch_names, plain, optimised, openvino, torch);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
};

}  // namespace amdahl::testing

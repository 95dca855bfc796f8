#include "experiments/vega.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace amdahl {
namespace {

// What parse() and View need, each after those that it requires. Maps, trees, force layouts, word clouds stay out.
constexpr std::array kModules{"util",    "expression", "time",       "format",          "loader",    "dataflow",       "scale",
                              "canvas",  "scenegraph", "selection",  "statistics",      "functions", "event-selector", "parser",
                              "runtime", "view",       "transforms", "view-transforms", "encode"};

std::string read_module(const std::string& folder, const char* name) {
  const std::string path = fmt::format("{}/vega-{}.min.js", folder, name);
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!(text << in.rdbuf())) throw Error(ExitCode::kIo, fmt::format("the page's plots need Vega, and {} is not there: apt-get install libjs-vega", path));
  std::string module = text.str();
  // The map of a minified file lies beside it on this machine only.
  if (const size_t map = module.rfind("//# sourceMappingURL="); map != std::string::npos) module.resize(map);
  return module;
}

}  // namespace

std::string vega_folder() {
  std::error_code error;
  const std::filesystem::path installed = std::filesystem::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "share/amdahl/vega";
  return !error && std::filesystem::exists(installed, error) ? installed.string() : kVegaFolder;
}

std::string vega_script(const std::string& folder) {
  std::string script =
      "/* Vega, (c) UW Interactive Data Lab and contributors, BSD-3-Clause; with parts of D3, (c) Mike Bostock, ISC. */\n"
      "const vega = (() => {\nconst modules = {};\nconst require = name => modules[name];\n"
      "const define = (name, body) => { const module = {exports: {}}; body(module.exports, module); modules[name] = module.exports; };\n";
  for (const char* name : kModules) {
    script += fmt::format("define('vega-{}', function(exports, module) {{\n{}\n}});\n", name, read_module(folder, name));
    // vega-functions asks for it by the name of its folder upstream.
    if (std::string_view(name) == "selection") script += "modules['vega-selections'] = modules['vega-selection'];\n";
  }
  return script +
         "Object.assign(modules['vega-dataflow'].transforms, modules['vega-transforms'], modules['vega-view-transforms'],\n"
         "              modules['vega-encode']);\n"
         "return {parse: modules['vega-parser'].parse, View: modules['vega-view'].View};\n})();\n";
}

}  // namespace amdahl

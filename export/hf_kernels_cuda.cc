// The hf-kernels format. Texts with @WORDS@ are in hf_kernels_cuda_templates/; those of the module are shared with the pytorch format.

#include "export/hf_kernels_cuda.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "export/cuda_kernels.h"
#include "export/cuda_python.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

const std::string kVariant = "build/torch-cuda";  // of a kernel that is compiled against no version of PyTorch

std::string machine() {
  utsname names{};
  uname(&names);
  return names.machine;
}

// The system that the library loads on: versions of functions are chosen for x86-64 alone (cuda_driver.h).
std::string oldest_glibc() { return machine() == "x86_64" ? "2.28" : gnu_get_libc_version(); }

// As the hub wants names: small letters, digits and dashes, a letter first and no dash last.
std::string kernel_name(const std::string& identifier) {
  std::string name;
  for (char c : identifier) name += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  while (name.ends_with('-')) name.pop_back();
  return name.size() < 2 || !std::isalpha(static_cast<unsigned char>(name[0])) ? "model-" + name : name;
}

// The file, here, and a link to it where the C project looks for it.
void move_out_of_source(const std::string& directory, const std::string& file, const std::string& to) {
  std::error_code error;
  const fs::path from = directory + "/source/" + file, target = directory + "/" + to;
  fs::rename(from, target, error);
  if (!error) fs::create_symlink("../" + to, from, error);
  if (error) throw Error(ExitCode::kIo, fmt::format("cannot move {} to {}: {}", from.string(), target.string(), error.message()));
}

// As source/CMakeLists.txt builds it, without CMake.
void build_library(const std::string& source, const std::string& to) {
  const SubprocessResult built =
      run_subprocess({"g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-DAMDAHL_FOR_OLDER_SYSTEMS",
                      "-I" + source + "/include", "-I" + source + "/kernels", "-Wl,--as-needed", "-Xlinker",
                      fmt::format("--version-script={}/cmake/exports.map", source), "-o", to, source + "/src/model.cpp", source + "/src/kernel_code.S", "-ldl"},
                     {300});
  if (built.exit_code == 127) throw Error(ExitCode::kNoCompiler, "this format needs a C++ compiler: apt-get install g++");
  if (!built.ok()) throw Error(ExitCode::kInternal, fmt::format("the library of {} does not compile: {}", source, built.output.substr(0, 2000)));
}

std::string hash_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return hash_hex(std::string((std::istreambuf_iterator<char>(in)), {}));
}

// What the hub's tools read. Its digest of the files is made by them, after the licence is filled in (README.md).
std::string metadata(std::string_view backend, const CudaSources& sources, const std::string& kernel, const std::string& id) {
  const auto [major, minor] = capability_of(sources.words.at("ARCHITECTURE"));
  const std::string tuned = fmt::format("{}.{}", major, minor);
  Json cards = Json::array({tuned});
  if (sources.portable) cards.insert(cards.begin(), "8.0+PTX");
  const Json all{{"name", kernel},
                 {"id", id},
                 {"version", 1},
                 {"license", "other"},
                 {"python-depends", Json::array()},
                 {"kernel-depends", Json::array()},
                 {"backend", {{"type", backend}, {"archs", cards}}}};
  return all.dump(2) + "\n";
}

}  // namespace

std::vector<std::string> write_hf_kernels(const ExportRequest& request) {
  ExportFolder folder(request.directory);
  folder.clear("source");
  folder.clear("build");
  ExportRequest inside = request;
  inside.directory = request.directory + "/source";
  const CudaSources sources = write_cuda_sources(inside);
  const std::string name = sources.words.at("NAME"), kernel = kernel_name(name), file = fmt::format("lib{}.{}.so", name, machine());
  const std::string library = folder.place(kVariant + "/" + file);
  build_library(inside.directory, library);
  folder.place(kVariant + "/weights.bin");
  move_out_of_source(request.directory, "weights.bin", kVariant + "/weights.bin");
  folder.place("selftest.bin");
  move_out_of_source(request.directory, "selftest.bin", "selftest.bin");

  std::string package = kernel;
  std::replace(package.begin(), package.end(), '-', '_');
  const CudaPythonModule module{
      .folder = kVariant,
      .package = package,
      .name_space = fmt::format("_{}_cuda_{}", package, hash_of_file(library).substr(0, 7)),
      .library = fmt::format("f\"lib{}.{{os.uname().machine}}.so\"", name),
      .weights = "\"weights.bin\"",
      .build_hint = fmt::format("it was built for {}; build source/ of the export on this machine and put its lib{}.so there", machine(), name)};
  Words words = cuda_python_words(module, sources);
  words.insert({{"KERNEL", kernel}, {"MACHINE", machine()}, {"GLIBC", oldest_glibc()}});
  write_cuda_python(folder, module, words);
  folder.text(fmt::format("{}/{}/__init__.py", kVariant, package), filled_template("hf_kernels_cuda_templates/compat.py.in", words));
  folder.text(kVariant + "/metadata.json", metadata(request.target.backend, sources, kernel, module.name_space));
  write_cuda_python_selftest(folder, "", kVariant, "selftest.bin", words);
  folder.text("README.md", filled_template("hf_kernels_cuda_templates/README.md.in", words));
  std::vector<std::string> files = folder.files();
  for (const std::string& f : sources.files) files.push_back("source/" + f);
  return files;
}

}  // namespace amdahl

// Every export format: written, built by what it ships with in a folder of its own, and its self-test run; and the self-test
// notices weights that are not the ones it was made with.

#include "export/exporter.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "base/error.h"
#include "base/machine.h"
#include "base/subprocess.h"
#include "export/cxx.h"
#include "export/export_folder.h"
#include "graph/models/builders.h"
#include "graph/models/load_model.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/cpu/matmul_bf16.h"
#include "tests/export/self_test_of.h"
#include "tests/export/use_compiled.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

using testing::self_test_of;

TEST(ExportFormats, PackageKernelsOfTheirOwnBackendAlone) {
  const std::string why = refused_export(*find_export_format("cxx"), "abacus");
  EXPECT_NE(why.find("of a cpu"), std::string::npos) << why;
  EXPECT_NE(why.find("give one of onnx, json"), std::string::npos) << why;
  EXPECT_EQ(refused_export(*find_export_format("cxx"), "cpu"), "");
  EXPECT_EQ(refused_export(*find_export_format("json"), "abacus"), "");
  EXPECT_EQ(refused_export(*find_export_format("pytorch"), "cuda"), "");
  const std::string of_cards = refused_export(*find_export_format("hf-kernels"), "cpu");
  EXPECT_NE(of_cards.find("hf-kernels packages kernels of a cuda, and these are made for cpu: give one of cxx, pytorch"), std::string::npos) << of_cards;
}

class Export : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-export-" + std::to_string(getpid()));
    fs::remove_all(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  void write(const ExportFormat& format) {
    const Graph graph = find_shipped_model(GetParam())->build({});
    const Plan plan = starter_plan(graph, 2, cpu_target());
    const auto files = find_writer(format, "cpu")->write({graph, plan, GetParam(), dir_, self_test_of(graph), 1.0, "a test"});
    EXPECT_FALSE(files.empty());
    for (const std::string& file : files) EXPECT_TRUE(fs::exists(dir_ / file)) << file;
  }
  SubprocessResult in_folder(const std::string& command) const { return run_subprocess({"sh", "-c", "cd '" + dir_.string() + "' && " + command}, {300}); }

  fs::path dir_;
};

using Shell = std::function<SubprocessResult(const std::string&)>;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_text(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
void replace_in(const fs::path& path, const std::string& from, const std::string& to) {
  std::string text = read_text(path);
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from << " in " << path;
  write_text(path, text.replace(at, from.size(), to));
}
bool has(const SubprocessResult& r, const std::string& words) { return r.output.find(words) != std::string::npos; }
// "tuned kernels: 40 of 40 steps computed by them alone", whatever their number.
bool all_steps_by(const std::string& build, const SubprocessResult& r) {
  return std::regex_search(r.output, std::regex(build + R"( kernels: (\d+) of \1 steps? computed by them alone)"));
}

void build_cxx(const Shell& shell) {
  const SubprocessResult build = shell("cmake -S . -B build -G Ninja && cmake --build build -j2");
  ASSERT_EQ(build.exit_code, 0) << build.output.substr(0, 3000);
}

// Other weights: the outputs are not the recorded ones. Half of them: they are not the model's.
void change_weights(const fs::path& path) {
  std::fstream weights(path, std::ios::binary | std::ios::in | std::ios::out);
  std::vector<float> values(fs::file_size(path) / sizeof(float));
  weights.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  for (size_t i = values.size() / 2; i < values.size(); ++i)
    if (std::isfinite(values[i]) && std::fabs(values[i]) > 1e-3f && std::fabs(values[i]) < 1e3f) values[i] *= 1.01f;
  weights.seekp(0);
  weights.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}
void selftest_notices_weights(const Shell& shell, const fs::path& dir) {
  const std::string weights = read_text(dir / "weights.bin");
  change_weights(dir / "weights.bin");
  const SubprocessResult wrong = shell("./build/selftest .");
  EXPECT_EQ(wrong.exit_code, 2) << wrong.output;
  EXPECT_NE(wrong.output.find("weights.bin' is damaged"), std::string::npos) << wrong.output;
  // One bit, wherever it is.
  for (const double part : {0.0, 0.31, 0.77, 1.0}) {
    std::string bytes = weights;
    bytes[static_cast<size_t>(part * static_cast<double>(bytes.size() - 1))] ^= 1;
    write_text(dir / "weights.bin", bytes);
    const SubprocessResult one_bit = shell("./build/example");
    EXPECT_EQ(one_bit.exit_code, 1) << one_bit.output;
    EXPECT_NE(one_bit.output.find("is damaged"), std::string::npos) << one_bit.output;
  }
  write_text(dir / "weights.bin", weights);
  // Outputs that are not those recorded: the last numbers of the case, of the outputs.
  const std::string recorded = read_text(dir / "selftest.bin");
  change_weights(dir / "selftest.bin");
  const SubprocessResult other = shell("./build/selftest .");
  EXPECT_EQ(other.exit_code, 1) << other.output;
  write_text(dir / "selftest.bin", recorded);

  fs::resize_file(dir / "weights.bin", fs::file_size(dir / "weights.bin") / 2);
  const SubprocessResult cut_off = shell("./build/selftest .");
  EXPECT_EQ(cut_off.exit_code, 2) << cut_off.output;
  EXPECT_NE(cut_off.output.find("weights.bin"), std::string::npos) << cut_off.output;
}

// A program in C, by somebody who knows no C++, against the installed library: four ways to find it.
void use_installed(const Shell& shell, const fs::path& dir, const std::string& name) {
  EXPECT_EQ(shell("cc -std=c99 -pedantic -Wall -Wextra -Werror -Iinclude -c example.c -o /dev/null").output, "");
  ASSERT_EQ(shell("cmake --install build --prefix \"$PWD/first\" && mv first moved").exit_code, 0);
  fs::create_directories(dir / "consumer");
  fs::copy_file(dir / "example.c", dir / "consumer/example.c", fs::copy_options::overwrite_existing);
  write_text(dir / "consumer/CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(consumer C)\nfind_package(" + name +
                                                  " 1.0 REQUIRED)\nadd_executable(a example.c)\ntarget_link_libraries(a " + name + "::" + name +
                                                  ")\nadd_executable(b example.c)\ntarget_link_libraries(b " + name + "::" + name +
                                                  "_shared)\nfile(WRITE ${CMAKE_BINARY_DIR}/weights \"${" + name + "_WEIGHTS}\")\n");
  const SubprocessResult cmake = shell(
      "cd consumer && cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH=\"$PWD/../moved\" && cmake --build build && "
      "./build/a \"$(cat build/weights)\" && ./build/b \"$(cat build/weights)\"");
  EXPECT_EQ(cmake.exit_code, 0) << cmake.output;
  const SubprocessResult pkg_config =
      shell("cd consumer && export PKG_CONFIG_PATH=$(dirname $(find \"$PWD/../moved\" -name '*.pc')) && P=\"pkg-config " + name +
            "\" && cc example.c -o c $($P --cflags --libs) && LD_LIBRARY_PATH=$($P --variable=libdir) ./c $($P --variable=weights) && "
            "cc example.c -o d $($P --cflags) $($P --static --libs | sed 's/-l" +
            name + "/-l:lib" + name + ".a/') && ./d $($P --variable=weights)");
  EXPECT_EQ(pkg_config.exit_code, 0) << pkg_config.output;
  // A program may hold two models: what can be seen from outside is the interface, and all names have the model's in them.
  EXPECT_EQ(shell("nm --defined-only -g build/lib" + name + ".a 2>/dev/null | grep ' [A-Z] ' | grep -v -e " + name + " -e DW.ref").output, "");
  const SubprocessResult seen = shell("find moved -name 'lib" + name + ".so' | xargs nm -D --defined-only | grep -v ' A ' | grep -v ' " + name + "_'");
  EXPECT_EQ(seen.output, "");
}

// The self-test says which build ran, notices when it is another, and a CPU that lacks something gets the portable one.
void choose_builds(const Shell& shell, const fs::path& dir, const std::string& name) {
  const SubprocessResult both = shell("./build/selftest .");
  EXPECT_TRUE(all_steps_by("tuned", both) && all_steps_by("portable", both)) << both.output;
  EXPECT_FALSE(has(shell("./build/selftest . portable"), "tuned kernels"));
  EXPECT_EQ(shell("./build/selftest . fast").exit_code, 2);
  // What both builds defined under one name, the linker would take from either: from one that this CPU cannot run, perhaps.
  EXPECT_EQ(shell("find build -path '*portable*.o' | xargs nm -C | grep ' [WVu] ' | grep -v -e amdahl_" + name + "_p -e DW.ref").output, "");

  const std::string tables = read_text(dir / "src/kernel_tables.h");
  replace_in(dir / "src/kernel_tables.h", "amdahl_" + name + "_k0_call},", "amdahl_" + name + "_p0_call},");
  ASSERT_EQ(shell("cmake --build build").exit_code, 0);
  const SubprocessResult swapped = shell("./build/selftest .");
  EXPECT_EQ(swapped.exit_code, 1) << swapped.output;
  EXPECT_TRUE(has(swapped, "0 times tuned")) << swapped.output;
  write_text(dir / "src/kernel_tables.h", tables);

  const std::string features = read_text(dir / "src/features.cpp");
  replace_in(dir / "src/features.cpp", "    nullptr", "    \"frobnication\",\n    nullptr");
  ASSERT_EQ(shell("cmake --build build").exit_code, 0);
  const SubprocessResult other_cpu = shell("./build/example && ./build/selftest .");
  EXPECT_EQ(other_cpu.exit_code, 0) << other_cpu.output;
  EXPECT_TRUE(has(other_cpu, "by the portable kernels") && has(other_cpu, "lacks frobnication")) << other_cpu.output;
  const SubprocessResult refused = shell("./build/selftest . tuned");
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_TRUE(has(refused, "needs frobnication")) << refused.output;
  write_text(dir / "src/features.cpp", features);
  ASSERT_EQ(shell("cmake --build build").exit_code, 0);
}

// What a user of the format would do with it, and what must hold then.
void use_cxx(const Shell& shell, const fs::path& dir, const std::string& name) {
  ASSERT_NO_FATAL_FAILURE(build_cxx(shell));
  const SubprocessResult right = shell("./build/selftest . && ./build/example");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  const SubprocessResult needs = shell("ldd build/selftest");
  EXPECT_EQ(needs.output.find("amdahl"), std::string::npos) << needs.output;
  ASSERT_NO_FATAL_FAILURE(use_installed(shell, dir, name));
  ASSERT_NO_FATAL_FAILURE(choose_builds(shell, dir, name));
  selftest_notices_weights(shell, dir);
}

// PyTorch is no package of ours: AMDAHL_TORCH_PYTHON names a Python that has it. Without, the texts are all that can be looked at.
void use_pytorch(const Shell& shell, const fs::path& dir, const std::string& name) {
  for (const char* file : {"extension.cpp", "CMakeLists.txt", "selftest.py", "recorded_case.py", "README.md"})
    EXPECT_EQ(read_text(dir / "python" / file).find("@"), std::string::npos) << file;
  const SubprocessResult compiles = shell("python3 -m py_compile python/selftest.py python/recorded_case.py python/" + name + "/__init__.py");
  EXPECT_EQ(compiles.exit_code, 0) << compiles.output;
  const char* python = std::getenv("AMDAHL_TORCH_PYTHON");
  if (!python || !*python) return;
  const std::string in = std::string("cd python && ") + python + " ";
  const SubprocessResult unbuilt = shell(in + "-c 'import " + name + "'");
  EXPECT_TRUE(unbuilt.exit_code != 0 && has(unbuilt, "is not built: cmake")) << unbuilt.output;
  const SubprocessResult build =
      shell(std::string("cmake -S python -B python/build -G Ninja -DPython3_EXECUTABLE=") + python + " && cmake --build python/build");
  ASSERT_EQ(build.exit_code, 0) << build.output.substr(0, 3000);
  const SubprocessResult right = shell(in + "selftest.py");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  EXPECT_TRUE(has(right, "tuned kernels")) << right.output;
  const SubprocessResult refused = shell(in + "-c 'import torch, " + name + "; " + name + ".model(torch.zeros(3, 5, dtype=torch.int64 if " + name +
                                         ".INPUTS[0][1] == \"i64\" else torch.float32))'");
  EXPECT_TRUE(refused.exit_code != 0 && has(refused, "was tuned for")) << refused.output;
  replace_in(dir / "python/recorded_case.py", "LIMIT = ", "LIMIT = 1e-12 * ");
  EXPECT_EQ(shell(in + "selftest.py").exit_code, 1);
}

// ONNX Runtime is no package of ours either: AMDAHL_ONNXRUNTIME_PYTHON names a Python that has it, and NumPy. "" without.
std::string onnxruntime_python() {
  const char* python = std::getenv("AMDAHL_ONNXRUNTIME_PYTHON");
  return python ? python : "";
}

// Weights that are not the model's, kernels that are not what the tables say: the self-test inside ONNX Runtime notices both.
void onnxruntime_selftest_notices(const Shell& shell, const fs::path& dir, const std::string& name, const std::string& selftest) {
  const std::string tables = read_text(dir / "src/kernel_tables.h");
  replace_in(dir / "src/kernel_tables.h", "amdahl_" + name + "_k0_call},", "amdahl_" + name + "_p0_call},");
  ASSERT_EQ(shell("cmake --build build").exit_code, 0);
  const SubprocessResult swapped = shell(selftest);
  EXPECT_EQ(swapped.exit_code, 1) << swapped.output;
  EXPECT_TRUE(has(swapped, "0 times tuned")) << swapped.output;
  write_text(dir / "src/kernel_tables.h", tables);

  const fs::path weights = dir / (name + ".onnx.data");
  fs::copy_file(weights, dir / "kept.data");
  change_weights(weights);
  const SubprocessResult changed = shell("cmake --build build && " + selftest);
  EXPECT_EQ(changed.exit_code, 1) << changed.output;
  fs::rename(dir / "kept.data", weights);

  const fs::path matmul = dir / "src/kernels" / [&] {
    for (const auto& entry : fs::directory_iterator(dir / "src/kernels"))
      if (entry.path().string().find("_matmul.cpp") != std::string::npos) return entry.path().filename();
    return fs::path();
  }();
  replace_in(matmul, "AMDAHL_KERNEL::amdahl_run(in, out, workspace);", "");
  ASSERT_EQ(shell("cmake --build build").exit_code, 0);
  const SubprocessResult broken = shell(selftest);
  EXPECT_EQ(broken.exit_code, 1) << broken.output;
  EXPECT_TRUE(has(broken, "WRONG")) << broken.output;
}

// The operators themselves: onnxruntime_test.cc, without ONNX Runtime.
void use_onnxruntime(const Shell& shell, const fs::path& dir, const std::string& name) {
  const SubprocessResult compiles = shell("python3 -m py_compile selftest.py recorded_case.py");
  EXPECT_EQ(compiles.exit_code, 0) << compiles.output;
  if (onnxruntime_python().empty()) return;
  const std::string selftest = onnxruntime_python() + " selftest.py";
  const SubprocessResult unbuilt = shell(selftest);
  EXPECT_TRUE(unbuilt.exit_code != 0 && has(unbuilt, "is not built: cmake")) << unbuilt.output;
  ASSERT_NO_FATAL_FAILURE(build_cxx(shell));
  const SubprocessResult right = shell(selftest + " && " + selftest + " --build portable");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  EXPECT_TRUE(all_steps_by("tuned", right) && all_steps_by("portable", right)) << right.output;
  ASSERT_NO_FATAL_FAILURE(onnxruntime_selftest_notices(shell, dir, name, selftest));
}

// The same model, by our own reader and by ONNX Runtime; a script finds the steps.
void use_onnx(const Shell& shell, const fs::path& dir, const std::string& name, const Graph& graph) {
  const Graph read = load_model(dir / (name + ".onnx"), {});
  ASSERT_EQ(read.outputs.size(), graph.outputs.size());
  EXPECT_EQ(read.value(read.outputs[0]).name, graph.value(graph.outputs[0]).name);
  const SelfTestCase ours = self_test_of(graph), theirs = self_test_of(read);
  for (size_t o = 0; o < ours.expected.size(); ++o) EXPECT_EQ(to_doubles(ours.expected[o]), to_doubles(theirs.expected[o]));

  onnx::ModelProto model;
  std::ifstream in(dir / (name + ".onnx"), std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&in));
  std::map<std::string, std::string> notes;
  for (const auto& entry : model.metadata_props()) notes[entry.key()] = entry.value();
  const Plan plan = starter_plan(graph, 2, cpu_target());
  EXPECT_EQ(notes["amdahl.steps"], std::to_string(plan.steps.size()));
  for (size_t s = 0; s < plan.steps.size(); ++s)
    EXPECT_EQ(Json::parse(notes["amdahl.step." + std::to_string(s)]).at("kind"), plan.steps[s].variant.problem.kind);
  for (const onnx::NodeProto& node : model.graph().node()) {
    EXPECT_EQ(node.domain(), "") << node.name();
    EXPECT_TRUE(node.doc_string().rfind("step ", 0) == 0 || node.doc_string() == "no step: renames memory") << node.name() << ": " << node.doc_string();
  }
  if (onnxruntime_python().empty()) return;
  const SubprocessResult checked = shell(onnxruntime_python() + " -c 'import onnx; onnx.checker.check_model(\"" + name + ".onnx\", full_check=True)'");
  EXPECT_TRUE(checked.exit_code == 0 || has(checked, "No module named 'onnx'")) << checked.output;
  const SubprocessResult right = shell(onnxruntime_python() + " selftest.py");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  replace_in(dir / "recorded_case.py", "LIMIT = ", "LIMIT = 1e-9 * ");
  EXPECT_EQ(shell(onnxruntime_python() + " selftest.py").exit_code, 1);
}

// A tool reads which kernel computes what, and finds texts that compile.
void use_json(const Shell& shell, const fs::path& dir, const Graph& graph) {
  const Plan plan = starter_plan(graph, 2, cpu_target());
  const Json j = Json::parse(read_text(dir / "plan.json"));
  EXPECT_EQ(j.at("inputs").size(), graph.inputs.size());
  EXPECT_EQ(j.at("outputs").at(0).at("name"), graph.value(graph.outputs[0]).name);
  ASSERT_EQ(j.at("steps").size(), plan.steps.size());
  std::set<std::string> written;
  for (const Json& step : j.at("steps")) {
    EXPECT_FALSE(read_text(dir / step.at("source").get<std::string>()).empty());
    for (const Json& read : step.at("reads"))
      EXPECT_TRUE(read.at("constant").get<bool>() || written.count(read.at("name")) || read.at("name") == graph.value(graph.inputs[0]).name) << read.dump();
    for (const Json& write : step.at("writes")) written.insert(write.at("name"));
  }
  const SubprocessResult compiles = shell("for f in kernels/*.cpp; do g++ -std=gnu++20 -march=native -fopenmp -fsyntax-only -w $f || exit 1; done");
  EXPECT_EQ(compiles.exit_code, 0) << compiles.output.substr(0, 2000);
}

TEST_P(Export, BuildsAndTestsItselfWithNothingOfOurs) {
  for (const ExportFormat& format : export_formats()) {
    SCOPED_TRACE(format.name);
    EXPECT_FALSE(format.summary.empty());
    if (!find_writer(format, "cpu")) continue;  // of cards: cxx_cuda_test.cc, cuda_python_test.cc
    ASSERT_NO_FATAL_FAILURE(write(format));
    const auto shell = [&](const std::string& command) { return in_folder(command); };
    if (format.name == "cxx") use_cxx(shell, dir_, c_identifier(GetParam()));
    else if (format.name == "pytorch") use_pytorch(shell, dir_, c_identifier(GetParam()));
    else if (format.name == "onnxruntime") use_onnxruntime(shell, dir_, c_identifier(GetParam()));
    else if (format.name == "onnx") use_onnx(shell, dir_, c_identifier(GetParam()), find_shipped_model(GetParam())->build({}));
    else if (format.name == "compiled") testing::use_compiled(shell, dir_);
    else if (format.name == "json") use_json(shell, dir_, find_shipped_model(GetParam())->build({}));
    else FAIL() << "nobody has said how this format is used";
  }
}

INSTANTIATE_TEST_SUITE_P(Minis, Export, ::testing::Values("gpt2-mini", "mobilenet-mini"), [](const auto& info) {
  std::string n = info.param;
  std::replace(n.begin(), n.end(), '-', '_');
  return n;
});

// Products in bfloat16, on tiles and on vectors, and an edited kernel that compiles for one kind of CPU only: the library has another form of both.
TEST(ExportFormats, WhatOneKindOfCpuOnlyRunsHasAPortableForm) {
  const fs::path dir = fs::temp_directory_path() / ("amdahl-export-bf16-" + std::to_string(getpid()));
  fs::remove_all(dir);
  const Graph graph = find_shipped_model("gpt2-mini")->build({});
  Plan plan = starter_plan(graph, 2, cpu_target());
  int in_bf16 = 0, edited = 0;
  DeviceInfo on_tiles = this_machine(), on_vectors = this_machine();
  on_tiles.features = {"amx_bf16", "avx512_bf16", "avx512f"};
  on_vectors.features = {"avx512_bf16", "avx512f"};
  for (Step& step : plan.steps) {
    Variant& v = step.variant;
    if (v.problem.kind == "matmul" && refused_in_bf16(v.problem, on_vectors).empty()) {
      declare_algorithm(v.problem, "bf16");
      v.knobs = cpu_target(in_bf16 % 2 ? on_tiles : on_vectors).space(v.problem).starters();
      ++in_bf16;
    } else if (v.problem.kind == "layernorm") {
      v.source_override = "#ifndef __AVX__\n#error an edited kernel for AVX\n#endif\n" + cpu_target().source(v);
      ++edited;
    }
  }
  ASSERT_GT(in_bf16, 1);
  ASSERT_GT(edited, 0);
  SelfTestCase test = self_test_of(graph);
  test.relative_norm = 0.02;
  write_cxx({graph, plan, "math", dir, test, 1.0, "*/ a test"});  // a name that would hide a header
  const Shell shell = [&](const std::string& command) { return run_subprocess({"sh", "-c", "cd '" + dir.string() + "' && " + command}, {300}); };
  // For a CPU without bfloat16: what is compiled for such a one must still build.
  const SubprocessResult build = shell("cmake -S . -B build -G Ninja -DMARCH=x86-64-v3 && cmake --build build -j2");
  EXPECT_EQ(build.exit_code, 0) << build.output.substr(0, 3000);
  const SubprocessResult r = shell("./build/selftest .");
  EXPECT_EQ(r.exit_code, 0) << r.output;
  EXPECT_TRUE(all_steps_by("portable", r)) << r.output;
  EXPECT_TRUE(this_machine().has("amx_bf16") ? all_steps_by("tuned", r) : has(r, "lacks")) << r.output;
  fs::remove_all(dir);
}

TEST(ExportFormats, NamesAreIdentifiersThatNobodyElseHas) {
  EXPECT_EQ(c_identifier("gpt2-mini"), "gpt2_mini");
  EXPECT_EQ(c_identifier("3d"), "model_3d");
  EXPECT_EQ(c_identifier("math"), "model_math");
  EXPECT_EQ(c_identifier("m"), "model_m");
  EXPECT_EQ(c_identifier(""), "model_");
}

TEST(ExportFormats, WordsEndNoComment) {
  EXPECT_EQ(in_comment("gpt2 as tuned on a CPU, 2 cores"), "gpt2 as tuned on a CPU, 2 cores");
  EXPECT_EQ(in_comment("a */ int evil; /* b"), "a * / int evil; / * b");
  EXPECT_EQ(in_comment("**/"), "** /");
  EXPECT_EQ(in_comment("next line too \\"), "next line too /");
  EXPECT_EQ(in_comment("next line too ??/"), "next line too ? ?/") << "a trigraph";
  EXPECT_EQ(in_comment("\"\"\"\nimport os"), "'''/nimport os") << "of a text in Python";
  EXPECT_EQ(in_comment("turned \u202e round \xff"), "turned /u202e round /xff");
}

TEST(ExportFormats, AFolderOfSomebodyElseIsLeftAlone) {
  const fs::path dir = fs::temp_directory_path() / ("amdahl-export-foreign-" + std::to_string(getpid()));
  fs::create_directories(dir);
  std::ofstream(dir / "thesis.txt") << "years of work\n";
  const Graph graph = find_shipped_model("gpt2-mini")->build({});
  const Plan plan = starter_plan(graph, 1, cpu_target());
  for (const ExportFormat& format : export_formats()) {
    if (!find_writer(format, "cpu")) continue;
    EXPECT_THROW(find_writer(format, "cpu")->write({graph, plan, "m", dir, self_test_of(graph), 1.0, ""}), Error) << format.name;
    EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator{}), 1) << format.name;
  }
  fs::remove_all(dir);
}

}  // namespace
}  // namespace amdahl

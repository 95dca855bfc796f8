// What a user can get wrong, each through the real program: one clear line that says what to do, and its own exit code.

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/machine.h"
#include "base/subprocess.h"
#include "experiments/session.h"
#include "experiments/sqlite.h"
#include "experiments/vega.h"
#include "graph/onnx/tensor_io.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
void write_file(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// Beside the folder of this test program.
std::string program() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl"; }

class BadInput : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = fs::temp_directory_path() / ("amdahl-bad-input-" + std::to_string(getpid()));
    fs::create_directories(dir_);
    ASSERT_EQ(amdahl({"models", "gpt2-mini", "-o", file("good.onnx")}).exit_code, 0);
    ASSERT_EQ(amdahl({"models", "gpt2-mini", "-o", file("outside.onnx"), "--external"}).exit_code, 0);
  }
  static void TearDownTestSuite() { fs::remove_all(dir_); }

  static std::string file(const std::string& name) { return dir_ / name; }
  static SubprocessResult amdahl(std::vector<std::string> arguments, std::vector<std::string> before = {}) {
    before.push_back(program());
    before.insert(before.end(), arguments.begin(), arguments.end());
    before.insert(before.end(), {"--cache", file("cache"), "--quiet"});
    return run_subprocess(before, {120});
  }
  // Exit code `code` and one line (a list of reasons: `lines`) that holds every one of `words`.
  static void expect(const SubprocessResult& r, ExitCode code, const std::vector<std::string>& words, int lines = 1) {
    EXPECT_EQ(r.exit_code, static_cast<int>(code)) << r.output;
    EXPECT_EQ(r.output.rfind("amdahl: ", 0), 0u) << r.output;
    EXPECT_EQ(std::count(r.output.begin(), r.output.end(), '\n'), lines) << r.output;
    for (const std::string& word : words) EXPECT_NE(r.output.find(word), std::string::npos) << word << " in " << r.output;
  }
  static onnx::ModelProto good_model() {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(read_file(file("good.onnx"))));
    return model;
  }
  // Of one input and no nodes yet.
  static onnx::ModelProto model_of_input(const std::string& name, int64_t size) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    auto* input = model.mutable_graph()->add_input();
    input->set_name(name);
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_value(size);
    return model;
  }
  static void expect_bad_session(ExitCode code, const std::vector<std::string>& words) {
    for (const char* command : {"status", "report"}) expect(amdahl({command, file("s.amdahl")}), code, words);
  }
  static void make_session(int experiments) {
    fs::remove(file("s.amdahl"));
    SessionIdentity identity;
    identity.model = file("good.onnx");
    const auto session = Session::create(file("s.amdahl"), identity);
    for (int i = 1; i <= experiments; ++i) {
      Commit c;
      c.experiments.resize(1);
      c.experiments[0].id = i;
      c.experiments[0].reason = std::string(500, 'r');
      session->commit(c);
    }
  }
  static inline fs::path dir_;
};

TEST_F(BadInput, ModelFileThatIsMissingEmptyCutOffOrSomethingElse) {
  expect(amdahl({"profile", file("none.onnx")}), ExitCode::kBadModel, {"none.onnx"});
  write_file(file("bad.onnx"), "");
  expect(amdahl({"profile", file("bad.onnx")}), ExitCode::kBadModel, {"bad.onnx"});
  write_file(file("bad.onnx"), "this is a text, and a model it is not\n");
  expect(amdahl({"profile", file("bad.onnx")}), ExitCode::kBadModel, {"bad.onnx"});
  write_file(file("bad.onnx"), read_file(file("good.onnx")).substr(0, 5000));
  expect(amdahl({"profile", file("bad.onnx")}), ExitCode::kBadModel, {"bad.onnx"});
  expect(amdahl({"profile", dir_}), ExitCode::kBadModel, {"directory"});
}

TEST_F(BadInput, ShippedModelThatDoesNotExist) { expect(amdahl({"profile", "builtin:gpt9"}), ExitCode::kBadModel, {"gpt9", "gpt2"}); }

TEST_F(BadInput, PrecisionThatCannotBeAllowed) {
  expect(amdahl({"tune", file("good.onnx"), "--session", file("none.amdahl"), "--allow", "fp8"}), ExitCode::kUsage, {"fp8", "bf16"});
  expect(amdahl({"tune", file("good.onnx"), "--session", file("none.amdahl"), "--allow", "bf16", "--max-error", "0"}), ExitCode::kUsage, {"--max-error"});
  expect(amdahl({"tune", file("good.onnx"), "--session", file("none.amdahl"), "--max-error", "0.1"}), ExitCode::kUsage, {"--allow bf16"});
  EXPECT_FALSE(fs::exists(file("none.amdahl")));
}

TEST_F(BadInput, ExternalDataMissingOrTooShort) {
  const std::string data = file("outside.onnx.data");
  ASSERT_TRUE(fs::exists(data));
  const auto size = fs::file_size(data);
  fs::resize_file(data, size / 2);
  expect(amdahl({"profile", file("outside.onnx")}), ExitCode::kBadModel, {"outside.onnx.data", "too short"});
  fs::rename(data, data + ".away");
  expect(amdahl({"profile", file("outside.onnx")}), ExitCode::kBadModel, {"outside.onnx.data", "missing"});
}

TEST_F(BadInput, AllUnknownOperatorsAreListed) {
  onnx::ModelProto model = good_model();
  int changed = 0;
  for (auto& node : *model.mutable_graph()->mutable_node())
    if (node.op_type() == "Softmax") node.set_op_type(changed++ ? "Frobnicate" : "Defenestrate");
  ASSERT_EQ(changed, 2);
  write_file(file("unknown.onnx"), model.SerializeAsString());
  const SubprocessResult r = amdahl({"profile", file("unknown.onnx")});
  EXPECT_EQ(r.exit_code, static_cast<int>(ExitCode::kUnsupported)) << r.output;
  EXPECT_NE(r.output.find("Frobnicate"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("Defenestrate"), std::string::npos) << r.output;
}

// A hundred bytes of ONNX can ask for terabytes.
TEST_F(BadInput, MoreMemoryThanThereIs) {
  onnx::ModelProto model = model_of_input("x", 1 << 20);
  onnx::GraphProto& graph = *model.mutable_graph();
  auto* sizes = graph.add_initializer();
  sizes->set_name("sizes");
  sizes->set_data_type(onnx::TensorProto::INT64);
  sizes->add_dims(2);
  sizes->add_int64_data(1 << 22), sizes->add_int64_data(1 << 20);
  auto* node = graph.add_node();
  node->set_op_type("Expand");
  node->add_input("x"), node->add_input("sizes");
  node->add_output("y");
  graph.add_output()->set_name("y");
  write_file(file("huge.onnx"), model.SerializeAsString());
  expect(amdahl({"profile", file("huge.onnx")}), ExitCode::kUnsupported, {"Expand", "16384.0 GiB", "this machine has"});
}

// Each tensor fits, all of them together do not: refused before any memory is touched, and before a session is made.
TEST_F(BadInput, APlanLargerThanTheMachine) {
  onnx::ModelProto model = model_of_input("x", this_machine().memory_bytes / 16);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (int i = 0; i < 5; ++i) {
    auto* node = graph.add_node();
    node->set_op_type(i % 2 ? "Exp" : "Relu");
    node->add_input("x");
    node->add_output("y" + std::to_string(i));
    graph.add_output()->set_name(node->output(0));
  }
  write_file(file("wide.onnx"), model.SerializeAsString());
  for (const std::vector<std::string>& command : {std::vector<std::string>{"playbook"}, {"profile"}, {"tune", "--session", file("none.amdahl")}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.begin() + 1, file("wide.onnx"));
    expect(amdahl(arguments), ExitCode::kUnsupported, {"the model needs", "this machine has", "--shape"});
  }
  EXPECT_FALSE(fs::exists(file("none.amdahl")));
}

// Files that were handed over as getting through, in 256 MiB of data and one printable line.
TEST_F(BadInput, HostileModelsInBoundedMemoryAndOnePrintableLine) {
  const std::string hostile = AMDAHL_SOURCE_DIR "/tests/fuzz/regressions/";
  const auto playbook = [&](const std::string& name) {
    return amdahl({"playbook", hostile + name}, {"/usr/bin/env", "OMP_NUM_THREADS=1", "prlimit", "--data=268435456"});
  };
  const SubprocessResult doubling = playbook("doubling.onnx");
  EXPECT_EQ(doubling.exit_code, 0) << doubling.output;
  const auto expect_line = [&](const std::string& name, ExitCode code, const std::vector<std::string>& words) {
    const SubprocessResult r = playbook(name);
    expect(r, code, words);
    EXPECT_LT(r.output.size(), 1500u) << r.output;
    for (const char c : r.output.substr(0, r.output.size() - 1)) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << r.output;
  };
  expect_line("name_with_escape.onnx", ExitCode::kBadModel, {"reads 'two\\nlines \\x1b[31mred\\x1b[0m', which nothing produces"});
  expect_line("long_perm.onnx", ExitCode::kUnsupported, {"Transpose", "… 1993 more …", "is not a permutation"});
  expect_line("long_dimension_name.onnx", ExitCode::kUnsetDimension, {"input 'x' [aaaa", "… 19900 more …", "--shape x=1"});
}

// Names come back as they are shown: in JSON that parses, and in the option that names an input.
TEST_F(BadInput, NamesOfAModelThatControlATerminal) {
  const std::string input = "x\n\x1b[31m\xff\"</script>";
  onnx::ModelProto model = model_of_input(input, 3);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const char* name : {"y\u202e", "z\r"}) {
    auto* node = graph.add_node();
    node->set_op_type("LeakyRelu");
    node->set_name("*/\\\n");
    auto* alpha = node->add_attribute();
    alpha->set_name("alpha"), alpha->set_type(onnx::AttributeProto::FLOAT), alpha->set_f(0.5f);
    node->add_input(input);
    node->add_output(name);
    graph.add_output()->set_name(name);
  }
  write_file(file("escapes.onnx"), model.SerializeAsString());
  save_npy(from_doubles(DType::kF32, {3}, {1, -2, 3}), file("three.npy"));
  const std::vector<std::string> run{"run", file("escapes.onnx"), "--input", "x\\n\\x1b[31m\\xff\"</script>=" + file("three.npy"), "-o", file("out-escapes")};
  const SubprocessResult text = amdahl(run);
  EXPECT_EQ(text.exit_code, 0) << text.output;
  EXPECT_EQ(text.output.find_first_of("\x1b\r"), std::string::npos) << text.output;
  EXPECT_EQ(text.output.find("\u202e"), std::string::npos) << text.output;
  std::vector<std::string> as_json = run;
  as_json.push_back("--json");
  const SubprocessResult json = amdahl(as_json);
  ASSERT_EQ(json.exit_code, 0) << json.output;
  EXPECT_EQ(nlohmann::json::parse(json.output).at("outputs").at(0).at("name"), "y\\u202e");
  const SubprocessResult playbook = amdahl({"playbook", file("escapes.onnx"), "--json"});
  ASSERT_EQ(playbook.exit_code, 0) << playbook.output;
  EXPECT_TRUE(nlohmann::json::accept(playbook.output)) << playbook.output;
}

// A path is no text either: JSON holds it all the same.
TEST_F(BadInput, PathsThatAreNoTextInJson) {
  const SubprocessResult r = amdahl({"models", "gpt2-mini", "-o", file("\xff.onnx"), "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.output;
  EXPECT_TRUE(nlohmann::json::accept(r.output)) << r.output;
}

TEST_F(BadInput, OpenDimensionNamesTheOptionThatSetsIt) {
  onnx::ModelProto model = good_model();
  auto* dimensions = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  dimensions->mutable_dim(1)->set_dim_param("sequence");
  write_file(file("open.onnx"), model.SerializeAsString());
  expect(amdahl({"profile", file("open.onnx")}), ExitCode::kUnsetDimension, {"sequence", "--shape", "input_ids"});
}

TEST_F(BadInput, ShapeOfAnInputThatIsNotThere) {
  expect(amdahl({"profile", file("good.onnx"), "--shape", "nope=1,16"}), ExitCode::kUsage, {"nope", "input_ids"});
  expect(amdahl({"profile", file("good.onnx"), "--shape", "input_ids=1,2,3"}), ExitCode::kUsage, {"3 dimensions"});
}

TEST_F(BadInput, RunChecksNamesShapesAndTypes) {
  save_npy(from_ints(DType::kI64, {1, 16}, std::vector<int64_t>(16, 3)), file("ids.npy"));
  save_npy(from_ints(DType::kI64, {1, 17}, std::vector<int64_t>(17, 3)), file("long.npy"));
  save_npy(from_doubles(DType::kF32, {1, 16}, std::vector<double>(16, 3)), file("float.npy"));
  const auto run = [&](const std::string& input, const std::string& out = "out") {
    return amdahl({"run", file("good.onnx"), "--input", input, "-o", file(out)});
  };
  expect(run("ids=" + file("ids.npy")), ExitCode::kBadInput, {"input_ids is missing", "no input ids", "[1, 16]"});
  expect(run("input_ids=" + file("long.npy")), ExitCode::kBadInput, {"[1, 17]", "[1, 16]"});
  expect(run("input_ids=" + file("float.npy")), ExitCode::kBadInput, {"f32", "i64"});
  expect(run("input_ids=" + file("good.onnx")), ExitCode::kBadInput, {"good.onnx"});
  expect(run("input_ids"), ExitCode::kUsage, {"NAME=FILE"});
  expect(amdahl({"run", file("good.onnx"), "-o", file("out")}), ExitCode::kBadInput, {"input_ids is missing"});
  expect(run("input_ids=" + file("ids.npy"), "ids.npy/out"), ExitCode::kIo, {"ids.npy/out"});
  EXPECT_FALSE(fs::exists(file("out")));
}

TEST_F(BadInput, PlacesThatCannotBeWritten) {
  expect(amdahl({"models", "gpt2-mini", "-o", file("no/such/folder/x.onnx")}), ExitCode::kIo, {"cannot write"});
  // Not --cache of the helper: the last one counts, so the variable does it.
  const SubprocessResult r = run_subprocess({program(), "profile", file("good.onnx"), "--cache", "/dev/null/x"}, {120});
  expect(r, ExitCode::kIo, {"/dev/null/x", "--cache"});
  expect(amdahl({"tune", file("good.onnx"), "--session", file(std::string(300, 'x'))}), ExitCode::kIo, {"too long", "check that it exists"});
}

TEST_F(BadInput, StandardOutputOnAFullDisk) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  // A short output fails at the end, a long one in the middle of it.
  for (const char* command : {" models", " playbook", " doctor --help", " models --json"})
    expect(run_subprocess({"sh", "-c", program() + command + " >/dev/full"}, {20}), ExitCode::kIo, {"standard output", "is the disk full"});
  EXPECT_EQ(run_subprocess({"sh", "-c", program() + " nosuch 2>/dev/full"}, {20}).exit_code, static_cast<int>(ExitCode::kUsage));
}

TEST_F(BadInput, NoCompiler) {
  const SubprocessResult r = amdahl({"profile", file("good.onnx")}, {"/usr/bin/env", "PATH=/none"});
  expect(r, ExitCode::kNoCompiler, {"apt-get install g++"});
}

TEST_F(BadInput, SessionThatIsMissingOrSomethingElse) {
  fs::remove(file("s.amdahl"));
  expect_bad_session(ExitCode::kIo, {"s.amdahl", "amdahl tune"});
  for (const char* text : {"", "not a session, but longer than the sixteen bytes of the magic\n"}) {
    write_file(file("s.amdahl"), text);
    expect_bad_session(ExitCode::kSessionDamaged, {"s.amdahl is not a session", "amdahl tune MODEL --session FILE"});
    EXPECT_EQ(read_file(file("s.amdahl")), text) << "somebody's file";
  }
  Database(file("other.db"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE).execute("CREATE TABLE t(x)");
  expect(amdahl({"resume", file("other.db")}), ExitCode::kSessionDamaged, {"other.db is not a session"});
  expect(amdahl({"resume", "/dev/null"}), ExitCode::kIo, {"/dev/null is a device", "a session is a file", "amdahl tune MODEL --session FILE"});
  // Of a folder the advice names a file in it, also to the command that would make one.
  for (const std::vector<std::string>& command : {std::vector<std::string>{"resume", dir_}, {"status", dir_}, {"tune", file("good.onnx"), "--session", dir_}})
    expect(amdahl(command), ExitCode::kIo, {dir_.string() + " is a folder", "amdahl tune MODEL --session " + file("NAME.amdahl")});
}

// What the session shares its command line with is looked at before there is one.
TEST_F(BadInput, WhatIsWrongBesideASessionLeavesNoneBehind) {
  const auto tune = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"tune", file("good.onnx"), "--session", file("none.amdahl"), "--experiments", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amdahl(arguments);
  };
  expect(tune({"--html", file("good.onnx")}), ExitCode::kUsage, {"good.onnx: what is there is no page"});
  expect(tune({"--html", "/dev/null"}), ExitCode::kUsage, {"/dev/null: what is there is no page"});
  if (fs::exists(kVegaFolder)) {
    expect(tune({"--html", file("none.amdahl")}), ExitCode::kUsage, {"the session is kept there"});
    expect(tune({"--html", file("no/such/folder/page.html")}), ExitCode::kIo, {"page.html", "its folder exists"});
  }
  expect(tune({"--wisdom", file("w.db"), "--no-wisdom"}), ExitCode::kUsage, {"give one of them"});
  for (const auto& entry : fs::directory_iterator(dir_)) EXPECT_EQ(entry.path().filename().string().find("none.amdahl"), std::string::npos) << entry.path();
}

TEST_F(BadInput, DamagedSession) {
  make_session(40);
  fs::resize_file(file("s.amdahl"), fs::file_size(file("s.amdahl")) / 2);
  expect_bad_session(ExitCode::kSessionDamaged, {"s.amdahl"});
}

TEST_F(BadInput, SessionOfAnotherSchemaVersion) {
  make_session(1);
  Database(file("s.amdahl"), SQLITE_OPEN_READWRITE).execute("PRAGMA user_version = 99");
  expect_bad_session(ExitCode::kSessionMismatch, {"99"});
}

// Sessions of a real model: one short tune, copied for each case.
class BadSession : public BadInput {
 protected:
  static void SetUpTestSuite() {
    BadInput::SetUpTestSuite();
    const SubprocessResult r = amdahl({"tune", file("good.onnx"), "--session", file("real.amdahl"), "--experiments", "1"});
    ASSERT_EQ(r.exit_code, 0) << r.output;
  }
  void SetUp() override {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file("s.amdahl") + suffix);
    fs::copy_file(file("real.amdahl"), file("s.amdahl"));
  }
  // What is in it is under a checksum: copied, not edited.
  template <typename Change>
  static void copy_real(const Change& change) {
    const auto real = Session::open(file("real.amdahl"), Session::Access::kRead);
    SessionIdentity identity = real->identity();
    Commit all;
    all.experiments = real->experiments();
    all.plans = real->plans();
    all.profiles = real->profiles();
    all.options = real->options();
    all.state = real->state();
    change(identity, all);
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file("s.amdahl") + suffix);
    Session::create(file("s.amdahl"), identity)->commit(all);
  }
  static void expect_everywhere(ExitCode code, const std::vector<std::string>& words) {
    expect(amdahl({"resume", file("s.amdahl"), "--experiments", "2"}), code, words);
    expect(amdahl({"verify", file("s.amdahl")}), code, words);
    expect(amdahl({"replay", file("s.amdahl"), "1"}), code, words);
  }
};

TEST_F(BadSession, OfAnotherMachine) {
  copy_real([](SessionIdentity& identity, Commit&) { identity.machine_fingerprint = "another"; });
  expect_everywhere(ExitCode::kSessionMismatch, {"another machine", "start a new session"});
}

TEST_F(BadSession, OfAnotherKindOfDevice) {
  copy_real([](SessionIdentity& identity, Commit&) { identity.backend = "abacus"; });
  expect_everywhere(ExitCode::kSessionMismatch, {"'abacus'", "does not know"});
  expect(amdahl({"report", file("s.amdahl"), "--html", file("page.html")}), ExitCode::kSessionMismatch, {"'abacus'"});
}

// The kept plan is the starter plan, whatever was claimed of it.
TEST_F(BadSession, ThatClaimsAGainWhichIsNotThere) {
  const auto claims = [](Gain gain) { return [gain](SessionIdentity&, Commit& all) { all.headline = Headline{1, gain, 0.2, 0.1, 0, 7, {"normal"}}; }; };
  copy_real(claims({2.3, 2.2, 2.4, 12}));
  const SubprocessResult gain = amdahl({"verify", file("s.amdahl"), "--pairs", "7"});
  EXPECT_EQ(gain.exit_code, static_cast<int>(ExitCode::kNotVerified)) << gain.output;
  EXPECT_NE(gain.output.find("does NOT hold here"), std::string::npos) << gain.output;
  copy_real(claims({0.1, -1, 1, 12}));
  const SubprocessResult level = amdahl({"verify", file("s.amdahl"), "--pairs", "7"});
  EXPECT_EQ(level.exit_code, 0) << level.output;
  EXPECT_NE(level.output.find("(level)"), std::string::npos) << level.output;
}

TEST_F(BadSession, OfAModelThatChanged) {
  const std::string before = read_file(file("good.onnx"));
  fs::remove(file("good.onnx"));
  ASSERT_EQ(amdahl({"models", "bert-mini", "-o", file("good.onnx")}).exit_code, 0);
  expect_everywhere(ExitCode::kSessionMismatch, {"another version", "good.onnx"});
  write_file(file("good.onnx"), before);
}

TEST_F(BadSession, OfAModelThatIsGone) {
  fs::rename(file("good.onnx"), file("moved.onnx"));
  expect_everywhere(ExitCode::kBadModel, {"good.onnx"});
  fs::rename(file("moved.onnx"), file("good.onnx"));
}

TEST_F(BadSession, InUseByAnotherProcess) {
  const auto writer = Session::open(file("s.amdahl"), Session::Access::kWrite);
  expect(amdahl({"resume", file("s.amdahl")}), ExitCode::kSessionBusy, {"s.amdahl", std::to_string(getpid())});
  EXPECT_EQ(amdahl({"status", file("s.amdahl")}).exit_code, 0);  // readers are welcome
}

TEST_F(BadSession, IsNotTakenForAnotherModel) {
  expect(amdahl({"tune", "builtin:bert-mini", "--session", file("s.amdahl")}), ExitCode::kSessionMismatch, {"s.amdahl", "--session"});
}

TEST_F(BadSession, IsNotGoneOnWithUnderOtherOptions) {
  const std::vector<std::string> again{"tune", file("good.onnx"), "--session", file("s.amdahl")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), again.begin(), again.end());
    return amdahl(more);
  };
  expect(with({"--allow", "bf16"}), ExitCode::kSessionMismatch, {"s.amdahl", "without --allow bf16", "amdahl resume"});
  expect(with({"--seed", "77"}), ExitCode::kSessionMismatch, {"s.amdahl", "--seed", "--session FILE"});
  expect(with({"--threads", "63"}), ExitCode::kSessionMismatch, {"s.amdahl", "tuned for"});
  expect(with({"--max-error", "0.5"}), ExitCode::kSessionMismatch, {"s.amdahl", "--max-error 0.02"});
}

TEST_F(BadSession, TunedForMoreThreadsThanThereAreProcessorsSaysSo) {
  const int cores = this_machine().units;
  EXPECT_EQ(amdahl({"replay", file("s.amdahl"), "1", "--source"}).output.find("is tuned for"), std::string::npos);
  copy_real([&](SessionIdentity&, Commit& all) { (*all.options)["threads"] = cores + 1; });
  const SubprocessResult r = amdahl({"replay", file("s.amdahl"), "1", "--source"});
  EXPECT_EQ(r.exit_code, 0) << r.output;
  const std::string line = r.output.substr(0, r.output.find('\n'));
  for (const std::string& words :
       {"is tuned for " + std::to_string(cores + 1) + " threads", "give it " + std::to_string(cores + 1), "--threads " + std::to_string(cores)})
    EXPECT_NE(line.find(words), std::string::npos) << words << " in " << line;
}

TEST_F(BadSession, ExperimentThatItDoesNotHave) { expect(amdahl({"replay", file("s.amdahl"), "99"}), ExitCode::kUsage, {"99"}); }

}  // namespace
}  // namespace amdahl

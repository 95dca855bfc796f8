// Every way in which a model file can be wrong: each gives one clear message and its exit code, never a crash.

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "graph/models/load_model.h"
#include "graph/onnx/onnx_load.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

using testing::ModelMaker;
using testing::set_int;
using testing::set_ints;
using testing::TemporaryFolder;

struct BadModel {
  const char* what;
  ExitCode code;
  std::vector<std::string> says;                            // all of these
  std::function<std::string(const TemporaryFolder&)> make;  // writes it, returns the path
  LoadOptions options = {};
};

void PrintTo(const BadModel& m, std::ostream* out) { *out << m.what; }

std::string identity_model(const std::function<void(ModelMaker&)>& breaks) {
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  m.node("Identity", {"x"}, {"y"});
  breaks(m);
  return m.bytes();
}

std::function<std::string(const TemporaryFolder&)> broken(const std::function<void(ModelMaker&)>& breaks) {
  return [=](const TemporaryFolder& dir) { return dir.write("m.onnx", identity_model(breaks)); };
}

std::function<std::string(const TemporaryFolder&)> content(const std::string& bytes) {
  return [=](const TemporaryFolder& dir) { return dir.write("m.onnx", bytes); };
}

// A model with a 2x3 weight in `location`; `prepare` puts what is there.
std::function<std::string(const TemporaryFolder&)> with_weights(const std::string& location, int64_t offset, int64_t length,
                                                                std::function<void(const TemporaryFolder&)> prepare) {
  return [=](const TemporaryFolder& dir) {
    prepare(dir);
    return dir.write("m.onnx", identity_model([&](ModelMaker& m) {
                       m.external("w", {2, 3}, location, offset, length);
                       m.node("Identity", {"w"}, {"z"});
                       m.output("z");
                     }));
  };
}

// Functions F0 … F<depth>, each of whose bodies calls the next `calls` times.
void chain_of_functions(ModelMaker& m, int depth, int calls) {
  for (int i = 0; i <= depth; ++i) {
    auto* f = m.proto.add_functions();
    f->set_name("F" + std::to_string(i));
    f->set_domain("local");
    f->add_input("a");
    f->add_output("b0");
    *f->add_opset_import() = m.proto.opset_import(0);
    for (int c = 0; c < calls; ++c) {
      auto& n = ModelMaker::fill(*f->add_node(), i == depth ? "Identity" : "F" + std::to_string(i + 1), {"a"}, {"b" + std::to_string(c)});
      if (i < depth) n.set_domain("local");
    }
  }
  m.node("F0", {"x"}, {"z"}).set_domain("local");
  m.output("z");
}

onnx::GraphProto& subgraph(onnx::NodeProto& node, const std::string& name) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  return *a->mutable_g();
}

// If nodes inside each other's branches.
void nested_branches(ModelMaker& m, int depth) {
  onnx::NodeProto* node = &m.node("If", {"x"}, {"z"}, "branch");
  for (int i = 0; i < depth; ++i) {
    auto* a = node->add_attribute();
    a->set_name("then_branch");
    a->set_type(onnx::AttributeProto::GRAPH);
    node = a->mutable_g()->add_node();
    ModelMaker::fill(*node, "If", {"x"}, {"z"}, "branch");
  }
  m.output("z");
}

const auto kNothing = [](const TemporaryFolder&) {};
LoadOptions shapes(std::map<std::string, Shape> s) {
  LoadOptions o;
  o.input_shapes = std::move(s);
  return o;
}

// Files that hold no model, and models whose parts do not fit together.
std::vector<BadModel> broken_files() {
  return {
      {"missing file", ExitCode::kBadModel, {"cannot open", "No such file"}, [](const TemporaryFolder& d) { return d / "absent.onnx"; }},
      {"a folder", ExitCode::kBadModel, {"cannot open", "directory"}, [](const TemporaryFolder& d) { return d.str(); }},
      {"no such shipped model", ExitCode::kBadModel, {"no shipped model 'nothing'"}, [](const TemporaryFolder&) { return std::string("builtin:nothing"); }},
      {"empty file", ExitCode::kBadModel, {"empty"}, content("")},
      {"zip archive", ExitCode::kBadModel, {"zip archive", "torch.onnx.export"}, content(std::string("PK\x03\x04____", 8))},
      {"LFS pointer", ExitCode::kBadModel, {"git lfs pull"}, content("version https://git-lfs.github.com/spec/v1\noid")},
      {"web page", ExitCode::kBadModel, {"download went wrong"}, content("<!DOCTYPE html><html>404</html>")},
      {"not protobuf", ExitCode::kBadModel, {"not an ONNX model"}, content("what is this, a text for ants?")},
      {"protobuf without graph", ExitCode::kBadModel, {"no graph"}, content(std::string("\x08\x08", 2))},
      {"graph without outputs", ExitCode::kBadModel, {"no outputs"}, broken([](ModelMaker& m) { m.proto.mutable_graph()->clear_output(); })},
      {"old opset", ExitCode::kUnsupported, {"opset 7", "9 to"}, broken([](ModelMaker& m) { m.proto.mutable_opset_import(0)->set_version(7); })},
      {"opset of the future", ExitCode::kUnsupported, {"opset 99"}, broken([](ModelMaker& m) { m.proto.mutable_opset_import(0)->set_version(99); })},
      {"no opset", ExitCode::kBadModel, {"opset"}, broken([](ModelMaker& m) { m.proto.clear_opset_import(); })},
      {"reads what nothing produces", ExitCode::kBadModel, {"Identity_z", "'ghost'"}, broken([](ModelMaker& m) { m.node("Identity", {"ghost"}, {"z"}); })},
      {"output that nothing produces", ExitCode::kBadModel, {"'ghost'"}, broken([](ModelMaker& m) { m.output("ghost"); })},
      {"two producers", ExitCode::kBadModel, {"'y'", "two values"}, broken([](ModelMaker& m) { m.node("Identity", {"x"}, {"y"}, "again"); })},
      {"two initializers of one name", ExitCode::kBadModel, {"'w'", "two values"}, broken([](ModelMaker& m) {
         m.initializer("w", {1}, {1});
         m.initializer("w", {1}, {2});
       })},
      {"cycle", ExitCode::kBadModel, {"cycle"}, broken([](ModelMaker& m) {
         m.node("Add", {"x", "b"}, {"a"});
         m.node("Add", {"x", "a"}, {"b"});
         m.output("b");
       })},
      {"initializer too short", ExitCode::kBadModel, {"'w'", "[4]", "3 elements"}, broken([](ModelMaker& m) {
         m.initializer("w", {4}, {1, 2, 3});
       })},
      {"raw initializer too short", ExitCode::kBadModel, {"'w'", "16 bytes", "5"}, broken([](ModelMaker& m) {
         m.initializer("w", {4}, {}).set_raw_data("12345");
       })},
      {"negative dimension", ExitCode::kBadModel, {"'w'", "impossible"}, broken([](ModelMaker& m) { m.initializer("w", {-4}, {}); })},
      {"size overflows", ExitCode::kBadModel, {"'w'", "impossible"}, broken([](ModelMaker& m) {
         m.initializer("w", {int64_t{1} << 40, int64_t{1} << 40}, {});
       })},
      {"input too large", ExitCode::kUnsupported, {"'big'", "too large"}, broken([](ModelMaker& m) {
         m.input("big", {"4000000000", "4000000000", "4000000000"}).output("z");
         m.node("Identity", {"big"}, {"z"});
       })},
  };
}

// Weights in other files.
std::vector<BadModel> broken_weights() {
  return {
      {"external file missing", ExitCode::kBadModel, {"w.bin", "missing", "'w'"}, with_weights("w.bin", 0, 24, kNothing)},
      {"external file too short",
       ExitCode::kBadModel,
       {"w.bin", "24 bytes at offset 8", "the file has 20"},
       with_weights("w.bin", 8, 24, [](const TemporaryFolder& d) { d.write("w.bin", std::string(20, 'x')); })},
      {"external length disagrees",
       ExitCode::kBadModel,
       {"needs 24 bytes", "20"},
       with_weights("w.bin", 0, 20, [](const TemporaryFolder& d) { d.write("w.bin", std::string(64, 'x')); })},
      {"external offset overflows",
       ExitCode::kBadModel,
       {"too short"},
       with_weights("w.bin", INT64_MAX, 24, [](const TemporaryFolder& d) { d.write("w.bin", std::string(64, 'x')); })},
      {"external path absolute", ExitCode::kBadModel, {"/etc/passwd", "refused"}, with_weights("/etc/passwd", 0, 24, kNothing)},
      {"external path climbs", ExitCode::kBadModel, {"../w.bin", "refused"}, with_weights("../w.bin", 0, 24, kNothing)},
      {"external path is a link outwards",
       ExitCode::kBadModel,
       {"leaves the model's folder"},
       with_weights("w.bin", 0, 24, [](const TemporaryFolder& d) { std::filesystem::create_symlink("/etc/passwd", d / "w.bin"); })},
      {"external path through a linked folder",
       ExitCode::kBadModel,
       {"leaves the model's folder"},
       with_weights("sub/passwd", 0, 24, [](const TemporaryFolder& d) { std::filesystem::create_directory_symlink("/etc", d / "sub"); })},
      {"external path with a zero byte", ExitCode::kBadModel, {"refused"}, with_weights(std::string("w.bin\0/../x", 11), 0, 24, kNothing)},
      {"external path empty", ExitCode::kBadModel, {"names no file"}, with_weights("", 0, 24, kNothing)},
      {"external offset is past the end",
       ExitCode::kBadModel,
       {"24 bytes at offset 65", "the file has 64"},
       with_weights("w.bin", 65, 24, [](const TemporaryFolder& d) { d.write("w.bin", std::string(64, 'x')); })},
      {"external offset is no number", ExitCode::kBadModel, {"'w'", "offset '-8'"}, broken([](ModelMaker& m) {
         m.external("w", {2}, "w.bin", 0, 8).mutable_external_data(1)->set_value("-8");
         m.node("Identity", {"w"}, {"z"});
         m.output("z");
       })},
      {"external length is no number", ExitCode::kBadModel, {"'w'", "length '99999999999999999999'"}, broken([](ModelMaker& m) {
         m.external("w", {2}, "w.bin", 0, 8).mutable_external_data(2)->set_value("99999999999999999999");
         m.node("Identity", {"w"}, {"z"});
         m.output("z");
       })},
      {"external file is a folder",
       ExitCode::kBadModel,
       {"w.bin", "directory"},
       with_weights("w.bin", 0, 24, [](const TemporaryFolder& d) { std::filesystem::create_directory(d / "w.bin"); })},
  };
}

// Sizes that are open, or given wrongly.
std::vector<BadModel> broken_shapes() {
  const auto symbolic = [](ModelMaker& m) {
    m.input("ids", {"batch", "seq"}).input("mask", {"batch", "seq"}).output("a").output("b");
    m.node("Identity", {"ids"}, {"a"});
    m.node("Identity", {"mask"}, {"b"});
  };
  return {
      {"symbols unset", ExitCode::kUnsetDimension, {"'ids'", "'batch'", "'seq'", "--shape ids=1,128 --shape mask=1,128"}, broken(symbolic)},
      {"one symbol unset", ExitCode::kUnsetDimension, {"1 ('seq')", "--shape ids=1,128"}, broken([](ModelMaker& m) {
         m.input("ids", {"1", "seq"}).output("a");
         m.node("Identity", {"ids"}, {"a"});
       })},
      {"shape of another rank", ExitCode::kUsage, {"--shape ids=1,2,3", "3 dimensions", "[batch, seq]"}, broken(symbolic), shapes({{"ids", {1, 2, 3}}})},
      {"shape against a fixed dimension", ExitCode::kUsage, {"--shape x=3", "fixes dimension 0 to 2"}, broken(symbolic), shapes({{"x", {3}}})},
      {"shapes that disagree", ExitCode::kUsage, {"'batch'", "'ids'", "same"}, broken(symbolic), shapes({{"ids", {1, 8}}, {"mask", {2, 8}}})},
      {"shape of no input", ExitCode::kUsage, {"no such input", "x, ids, mask"}, broken(symbolic), shapes({{"idz", {1, 8}}})},
      {"negative shape", ExitCode::kUsage, {"negative"}, broken(symbolic), shapes({{"ids", {1, -8}}})},
  };
}

// If and Loop that cannot be written out, and what stands in them.
std::vector<BadModel> control_flow_models() {
  return {
      {"a branch without outputs", ExitCode::kUnsupported, {"If (ai.onnx 17), node 'branch': its condition is not a single bool"}, broken([](ModelMaker& m) {
         subgraph(m.node("If", {"x"}, {"z"}, "branch"), "then_branch");
         m.output("z");
       })},
      {"a branch that is not there", ExitCode::kUnsupported, {"node 'branch': attribute 'else_branch' is missing"}, broken([](ModelMaker& m) {
         m.input("condition", {"1"}, onnx::TensorProto::BOOL).output("z");
         onnx::GraphProto& then = subgraph(m.node("If", {"condition"}, {"z"}, "branch"), "then_branch");
         then.add_output()->set_name("x");
       })},
      {"operators in branches, and in functions called there",
       ExitCode::kUnsupported,
       {"3 reasons", "Frobnicate (ai.onnx 17), 2 nodes ('branch/then_branch/f', 'branch/then_branch/If_c/then_branch/deep'): unknown operator",
        "Quux (acme 1), node 'branch/else_branch/q'", "Inner (ai.onnx 17), 2 nodes ('branch/else_branch/F_one/i', 'branch/else_branch/F_one/i_2')"},
       broken([](ModelMaker& m) {
         m.input("condition", {"1"}, onnx::TensorProto::BOOL).output("z");
         auto& branch = m.node("If", {"condition"}, {"z"}, "branch");
         onnx::GraphProto& then = subgraph(branch, "then_branch");
         ModelMaker::fill(*then.add_node(), "Frobnicate", {"x"}, {"a"}, "f");
         auto& nested = ModelMaker::fill(*then.add_node(), "If", {"condition"}, {"c"});
         for (const char* name : {"then_branch", "else_branch"}) {
           onnx::GraphProto& inner = subgraph(nested, name);
           inner.add_output()->set_name("d");
           ModelMaker::fill(*inner.add_node(), name[0] == 't' ? "Frobnicate" : "Relu", {"x"}, {"d"}, "deep");
         }
         ModelMaker::fill(*then.add_node(), "Add", {"a", "c"}, {"b"}, "known");
         then.add_output()->set_name("b");
         onnx::GraphProto& otherwise = subgraph(branch, "else_branch");
         ModelMaker::fill(*otherwise.add_node(), "Quux", {"x"}, {"b"}, "q").set_domain("acme");
         ModelMaker::fill(*otherwise.add_node(), "F", {"b"}, {"c"}, "F_one").set_domain("local");
         ModelMaker::fill(*otherwise.add_node(), "F", {"x"}, {"d"}, "F_one").set_domain("local");
         ModelMaker::fill(*otherwise.add_node(), "Add", {"c", "d"}, {"e"}, "sum");
         otherwise.add_output()->set_name("e");
         auto* f = m.proto.add_functions();
         f->set_name("F"), f->set_domain("local"), f->add_input("a"), f->add_output("b");
         *f->add_opset_import() = m.proto.opset_import(0);
         ModelMaker::fill(*f->add_node(), "Inner", {"a"}, {"b"}, "i");
       })},
      {"the unknown operator of a branch that is taken",
       ExitCode::kUnsupported,
       {"this model cannot run: Quux (acme 1), node 'branch/else_branch/q'"},
       broken([](ModelMaker& m) {
         m.output("z");
         m.initializer("condition", {}, {}).set_data_type(onnx::TensorProto::BOOL);
         m.proto.mutable_graph()->mutable_initializer(m.proto.graph().initializer_size() - 1)->add_int32_data(0);
         auto& branch = m.node("If", {"condition"}, {"z"}, "branch");
         for (const char* name : {"then_branch", "else_branch"}) {
           onnx::GraphProto& inner = subgraph(branch, name);
           inner.add_output()->set_name("a");
           if (name[0] == 't') ModelMaker::fill(*inner.add_node(), "Frobnicate", {"x"}, {"a"}, "f");
           else ModelMaker::fill(*inner.add_node(), "Quux", {"x"}, {"a"}, "q").set_domain("acme");
         }
       })},
      {"a loop without end", ExitCode::kUnsupported, {"the model is more than 200000 nodes when its loops are written out"}, broken([](ModelMaker& m) {
         m.output("z");
         auto& loop = m.node("Loop", {"", "", "x"}, {"z"}, "loop");
         onnx::GraphProto& body = subgraph(loop, "body");
         for (const char* name : {"i", "go", "before"}) body.add_input()->set_name(name);
         for (const char* name : {"go", "after"}) body.add_output()->set_name(name);
         ModelMaker::fill(*body.add_node(), "Relu", {"before"}, {"after"});
       })},
      {"a loop whose end is in the data",
       ExitCode::kUnsupported,
       {"Loop (ai.onnx 17), node 'loop': its trip count depends on the data"},
       broken([](ModelMaker& m) {
         m.input("count", {}, onnx::TensorProto::INT64).output("z");
         subgraph(m.node("Loop", {"count", "", "x"}, {"z"}, "loop"), "body").add_output()->set_name("x");
         auto& loop = *m.proto.mutable_graph()->mutable_node(m.proto.graph().node_size() - 1);
         loop.mutable_attribute(0)->mutable_g()->add_output()->set_name("x");
       })},
      {"branches of two shapes",
       ExitCode::kUnsupported,
       {"node 'branch': its condition depends on the data, and output 0 is f32 [2] in one branch and f32 [1]"},
       broken([](ModelMaker& m) {
         m.input("condition", {"1"}, onnx::TensorProto::BOOL).output("z");
         auto& branch = m.node("If", {"condition"}, {"z"}, "branch");
         onnx::GraphProto &then = subgraph(branch, "then_branch"), &otherwise = subgraph(branch, "else_branch");
         ModelMaker::fill(*then.add_node(), "Relu", {"x"}, {"a"});
         then.add_output()->set_name("a");
         ModelMaker::fill(*otherwise.add_node(), "ReduceMax", {"x"}, {"a"});
         otherwise.add_output()->set_name("a");
       })},
  };
}

// What no graph here can hold.
std::vector<BadModel> unsupported_models() {
  return {
      {"string input", ExitCode::kUnsupported, {"'s'", "string"}, broken([](ModelMaker& m) {
         m.input("s", {"2"}, onnx::TensorProto::STRING).output("z");
         m.node("Identity", {"s"}, {"z"});
       })},
      {"sequence input", ExitCode::kUnsupported, {"'s'", "sequence"}, broken([](ModelMaker& m) {
         auto* info = m.proto.mutable_graph()->add_input();
         info->set_name("s");
         info->mutable_type()->mutable_sequence_type();
         m.node("SequenceLength", {"s"}, {"z"});
         m.output("z");
       })},
      {"sparse initializer", ExitCode::kUnsupported, {"'s'", "sparse"}, broken([](ModelMaker& m) {
         m.proto.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("s");
         m.node("Identity", {"s"}, {"z"});
         m.output("z");
       })},
      {"float8 initializer", ExitCode::kUnsupported, {"'w'", "float8e4m3fn"}, broken([](ModelMaker& m) {
         m.initializer("w", {1}, {}).set_data_type(17);
         m.node("Identity", {"w"}, {"z"});
         m.output("z");
       })},
      {"all reasons at once", ExitCode::kUnsupported, {"2 reasons", "Frobnicate (ai.onnx 17), node 'f'", "Quux (acme 1), node 'q'"}, broken([](ModelMaker& m) {
         m.node("Frobnicate", {"x"}, {"f1"}, "f");
         m.node("Identity", {"f1"}, {"f2"});  // a consequence: not listed
         m.node("Quux", {"f2"}, {"z"}, "q").set_domain("acme");
         m.output("z");
       })},
      {"a line an operator",
       ExitCode::kUnsupported,
       {"2 reasons", "\n  Frobnicate (ai.onnx 17), 40 nodes ('f0', 'f1', 'f2', 'f3', 'f4', … 34 more …, 'f39'): unknown operator\n",
        "\n  Reshape (ai.onnx 17), 20 nodes: the target shape (input 's0') depends on the data"},
       broken([](ModelMaker& m) {
         for (int i = 0; i < 40; ++i) {
           const std::string n = std::to_string(i);
           m.node("Frobnicate", {"x"}, {"y" + n}, "f" + n);
           m.output("y" + n);
         }
         for (int i = 0; i < 20; ++i) {
           const std::string n = std::to_string(i);
           m.input("s" + n, {"1"}, onnx::TensorProto::INT64);
           m.node("Reshape", {"x", "s" + n}, {"r" + n}, "reshape" + n);
           m.output("r" + n);
         }
       })},
      {"operators before sizes", ExitCode::kUnsupported, {"Frobnicate"}, broken([](ModelMaker& m) {
         m.input("open", {"batch", "2"}).output("z");
         m.node("Frobnicate", {"open"}, {"z"});
       })},
  };
}

// Names that would do something to a terminal or a text, and numbers without measure.
std::vector<BadModel> hostile_models() {
  return {
      {"names that control a terminal", ExitCode::kBadModel, {"node 'a\\nb' (Add) reads 'two\\nlines \\x1b[31mred', which nothing"}, broken([](ModelMaker& m) {
         m.node("Add", {"x", "two\nlines \x1b[31mred"}, {"z"}, "a\nb");
         m.output("z");
       })},
      {"names that end no comment, turn no text and are no text", ExitCode::kUnsupported, {"Fro\\u202eb (ai.onnx 17), node '\\xff'"}, broken([](ModelMaker& m) {
         m.node(
             "Fro\u202e"
             "b",
             {"x"}, {"z"}, "\xff");
         m.output("z");
       })},
      {"names that are one when printed", ExitCode::kBadModel, {"'a\\n' is given to two values"}, broken([](ModelMaker& m) {
         m.node("Relu", {"x"}, {"a\n"});
         m.node("Relu", {"x"}, {"a\\n"});
         m.output("a\n");
       })},
      {"more dimensions than anybody has", ExitCode::kUnsupported, {"5000 dimensions, at most 32"}, broken([](ModelMaker& m) {
         m.input("many", std::vector<std::string>(5000, "1")).output("z");
         m.node("Relu", {"many"}, {"z"});
       })},
      {"subgraphs in subgraphs", ExitCode::kUnsupported, {"If (ai.onnx 17)", "its condition is not a single bool"}, broken([](ModelMaker& m) {
         nested_branches(m, 20);
       })},
      {"subgraphs without end", ExitCode::kBadModel, {"not an ONNX model, or damaged"}, broken([](ModelMaker& m) { nested_branches(m, 2000); })},
      {"functions without end", ExitCode::kBadModel, {"functions call each other more than"}, broken([](ModelMaker& m) { chain_of_functions(m, 50000, 1); })},
      {"functions that double", ExitCode::kBadModel, {"functions expand to more than"}, broken([](ModelMaker& m) { chain_of_functions(m, 60, 2); })},
      {"functions of endless names", ExitCode::kBadModel, {"grow beyond measure"}, broken([](ModelMaker& m) {
         chain_of_functions(m, 14, 2);
         for (auto& f : *m.proto.mutable_functions())
           for (auto& n : *f.mutable_node()) n.set_name(std::string(5000, 'n'));
       })},
      {"functions of endless attributes", ExitCode::kBadModel, {"grow beyond measure"}, broken([](ModelMaker& m) {
         chain_of_functions(m, 12, 2);
         auto* leaf = m.proto.mutable_functions(12);
         for (auto& n : *leaf->mutable_node()) set_ints(n, "unheard_of", std::vector<int64_t>(100000, 1));
       })},
      {"functions that double and compute nothing", ExitCode::kBadModel, {"grow beyond measure"}, broken([](ModelMaker& m) {
         chain_of_functions(m, 60, 2);
         for (auto& f : *m.proto.mutable_functions())
           for (auto& n : *f.mutable_node()) n.clear_output();
         m.proto.mutable_functions(60)->clear_node();
       })},
      {"function that calls itself", ExitCode::kBadModel, {"'Loop'", "calls itself"}, broken([](ModelMaker& m) {
         auto* f = m.proto.add_functions();
         f->set_name("Loop");
         f->set_domain("local");
         f->add_input("a");
         f->add_output("b");
         ModelMaker::fill(*f->add_node(), "Loop", {"a"}, {"b"}).set_domain("local");
         m.node("Loop", {"x"}, {"z"}).set_domain("local");
         m.output("z");
       })},
  };
}

std::vector<BadModel> bad_models() {
  std::vector<BadModel> all;
  for (auto part : {broken_files, broken_weights, broken_shapes, unsupported_models, control_flow_models, hostile_models})
    for (const BadModel& model : part()) all.push_back(model);
  return all;
}

// Models of a hundred bytes that ask for 32 TiB, operator by operator. The shape rules must refuse before anything is made.
struct HugeModel {
  const char* op;
  std::function<void(ModelMaker&)> make;  // adds the node that makes 'z'
};

std::vector<HugeModel> huge_models() {
  constexpr int64_t k22 = int64_t{1} << 22, k21 = int64_t{1} << 21;
  const auto f32 = [](ModelMaker& m, const std::string& name, const std::vector<int64_t>& dims) {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    m.initializer(name, dims, std::vector<float>(static_cast<size_t>(n), 1.0f));
  };
  return {
      {"ConstantOfShape",
       [=](ModelMaker& m) {
         m.initializer_i64("s", {k22, k21});
         m.node("ConstantOfShape", {"s"}, {"z"});
       }},
      {"Expand",
       [=](ModelMaker& m) {
         m.initializer_i64("s", {k22, k21, 1});
         m.node("Expand", {"x", "s"}, {"z"});
       }},
      {"Tile",
       [=](ModelMaker& m) {
         m.initializer_i64("s", {k21 * k21});
         m.node("Tile", {"x", "s"}, {"z"});
       }},
      {"Pad",
       [=](ModelMaker& m) {
         m.initializer_i64("s", {k21 * k21, k21 * k21});
         m.node("Pad", {"x", "s"}, {"z"});
       }},
      {"Resize",
       [=](ModelMaker& m) {
         f32(m, "w", {1, 1, 2, 2});
         m.initializer_i64("s", {1, 1, k22, k21});
         m.node("Resize", {"w", "", "", "s"}, {"z"});
       }},
      {"Upsample",
       [=](ModelMaker& m) {
         m.proto.mutable_opset_import(0)->set_version(9);
         f32(m, "w", {2, 2});
         m.initializer("s", {2}, {2097152.0f, 2097152.0f});
         m.node("Upsample", {"w", "s"}, {"z"});
       }},
      {"OneHot",
       [=](ModelMaker& m) {
         m.initializer_i64("i", {0, 1});
         m.initializer_i64("d", {k22 * k21}).clear_dims();
         f32(m, "v", {2});
         m.node("OneHot", {"i", "d", "v"}, {"z"});
       }},
      {"Range",
       [=](ModelMaker& m) {
         for (const char* name : {"from", "to", "by"}) m.initializer(name, {}, {std::string(name) == "to" ? 0x1p42f : 1.0f});
         m.node("Range", {"from", "to", "by"}, {"z"});
       }},
      {"Concat",
       [=](ModelMaker& m) {
         m.initializer_i64("s", {k22, 1 << 15});  // half a terabyte: many of them
         m.node("Expand", {"one", "s"}, {"e"});
         f32(m, "one", {1, 1});
         m.node("Concat", std::vector<std::string>(64, "e"), {"z"});
         set_int(*m.proto.mutable_graph()->mutable_node(2), "axis", 0);
       }},
      {"MatMul",
       [=](ModelMaker& m) {
         m.input("tall", {"4194304", "1"}).input("wide", {"1", "2097152"});
         m.node("MatMul", {"tall", "wide"}, {"z"});
       }},
      {"Add",
       [=](ModelMaker& m) {
         m.input("tall", {"4194304", "1"}).input("wide", {"1", "2097152"});
         m.node("Add", {"tall", "wide"}, {"z"});
       }},
      {"ConvTranspose",
       [=](ModelMaker& m) {
         f32(m, "w", {1, 1, 1, 1});
         f32(m, "i", {1, 1, 2, 2});
         set_ints(m.node("ConvTranspose", {"i", "w"}, {"z"}), "strides", {k22, k21});
       }},
      {"DepthToSpace",
       [=](ModelMaker& m) {
         f32(m, "i", {1, 0, 2, 2});
         set_int(m.node("DepthToSpace", {"i"}, {"z"}), "blocksize", int64_t{1} << 40);
       }},
      {"MaxPool",
       [=](ModelMaker& m) {
         f32(m, "i", {1, 1, 2, 2});
         auto& n = m.node("MaxPool", {"i"}, {"z"});
         set_ints(n, "kernel_shape", {1, 1});
         set_ints(n, "pads", {2000000000, 2000000000, 2000000000, 2000000000});
       }},
  };
}

class HugeModelTest : public ::testing::TestWithParam<HugeModel> {};

// Long chains in any order, of nodes that all have one name: no error, and no reason to take longer than a line through them.
// What is quadratic in 50,000 takes minutes.
class LongChain : public ::testing::TestWithParam<const char*> {};

TEST_P(LongChain, Loads) {
  ModelMaker m;
  constexpr int kNodes = 50000;
  m.input("x", {"2", "2"}).output("v0");
  for (int i = 0; i < kNodes; ++i) {
    auto& n = m.node(GetParam(), {i + 1 == kNodes ? "x" : "v" + std::to_string(i + 1)}, {"v" + std::to_string(i)}, "n");
    if (n.op_type() == "Unsqueeze" || n.op_type() == "Squeeze") n.add_input("axes");
    if (n.op_type() == "Add") n.add_input(n.input(0));
    if (n.op_type() == "Cast") set_int(n, "to", i % 2 ? onnx::TensorProto::FLOAT : onnx::TensorProto::DOUBLE);
  }
  EXPECT_NO_THROW(load_onnx_bytes(m.bytes(), "", {}));
}

INSTANTIATE_TEST_SUITE_P(Operators, LongChain, ::testing::Values("Relu", "Identity", "Transpose", "Add", "Cast", "Flatten", "ReduceMax"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(HugeModelTest, IsRefused) {
  const std::string bytes = identity_model([&](ModelMaker& m) {
    GetParam().make(m);
    m.output("z");
  });
  try {
    load_onnx_bytes(bytes, "", {});
    FAIL() << "loaded";
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(ExitCode::kUnsupported)) << e.what();
    const std::string text = e.what();
    EXPECT_TRUE(text.find("too large") != std::string::npos || text.find("overflows") != std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, HugeModelTest, ::testing::ValuesIn(huge_models()), [](const auto& info) { return std::string(info.param.op); });

class BadModelTest : public ::testing::TestWithParam<BadModel> {};

TEST_P(BadModelTest, IsRefusedWithAReason) {
  const TemporaryFolder dir;
  const std::string path = GetParam().make(dir);
  try {
    load_model(path, GetParam().options);
    FAIL() << "loaded";
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(GetParam().code)) << e.what();
    for (const std::string& part : GetParam().says)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << "expected '" << part << "' in: " << e.what();
    if (GetParam().code != ExitCode::kUnsupported) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, BadModelTest, ::testing::ValuesIn(bad_models()), [](const auto& info) {
  std::string name = info.param.what;
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace amdahl

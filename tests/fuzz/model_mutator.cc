#include "tests/fuzz/model_mutator.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "graph/onnx/onnx_tensor.h"
#include "graph/onnx_types.h"
#include "graph/op.h"

namespace amdahl::testing {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

size_t below(FuzzRandom& random, size_t n) { return n == 0 ? 0 : random() % n; }
bool once_in(FuzzRandom& random, size_t n) { return below(random, n) == 0; }

template <typename List>
auto& pick(List& list, FuzzRandom& random) {
  return list[below(random, list.size())];
}

template <typename Repeated>
auto* pick_mutable(Repeated* list, FuzzRandom& random) {
  return list->size() == 0 ? nullptr : list->Mutable(static_cast<int>(below(random, static_cast<size_t>(list->size()))));
}

int64_t odd_int(FuzzRandom& random) {
  // clang-format off
  static const std::vector<int64_t> kOdd = {0,       1,       2,         3,         4,         5,        7,         8,         9,         16,        17,
                                            -1,      -2,      -3,        -5,        64,        127,      128,       255,       1000,      65535,     65536,
                                            1 << 20, 1 << 24, INT32_MAX, INT32_MIN, 1LL << 31, 1LL << 32, 1LL << 40, 1LL << 46, 1LL << 62, INT64_MAX, INT64_MIN,
                                            INT64_MAX - 1, INT64_MIN + 1};
  // clang-format on
  return once_in(random, 8) ? static_cast<int64_t>(below(random, 300)) - 40 : pick(kOdd, random);
}

double odd_float(FuzzRandom& random) {
  static const std::vector<double> kOdd = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.7, 1e-6, 1e6, 1e10, 1e30, 1e38, 1e-45, -1e30, HUGE_VAL, -HUGE_VAL, NAN};
  return pick(kOdd, random);
}

const std::string& odd_string(FuzzRandom& random) {
  // clang-format off
  static const std::vector<std::string> kOdd = {
      "",           "NOTSET",     "SAME_UPPER",  "SAME_LOWER",         "VALID",         "constant",           "reflect",     "edge",  "wrap",   "nearest",
      "linear",     "cubic",      "half_pixel",  "align_corners",      "asymmetric",    "tf_crop_and_resize", "floor",       "ceil",  "DCR",    "CRD",
      "add",        "mul",        "max",         "min",                "none",          "sum",                "mean",        "LEFT",  "RIGHT",  "tanh",
      "ij,jk->ik",  "...ij,...jk", "ii->i",       "i,i",                "ij->",          "->",                 "a,b,c->abc",  "not_larger", "not_smaller",
      "forward",    "bidirectional", "circular", "Tanh",           "Affine",        "zeros",              "border",      "reflection", "cubic", "tanh",
      "pytorch_half_pixel", "half_pixel_symmetric", "round_prefer_ceil", "w.bin", "../w.bin", "/etc/passwd", "..."};
  // clang-format on
  return pick(kOdd, random);
}

const std::string& attribute_name(FuzzRandom& random) {
  // clang-format off
  static const std::vector<std::string> kNames = {
      "axis", "axes", "keepdims", "perm", "pads", "strides", "dilations", "kernel_shape", "group", "auto_pad", "ceil_mode", "count_include_pad", "storage_order",
      "epsilon", "alpha", "beta", "transA", "transB", "to", "mode", "blocksize", "equation", "largest", "sorted", "exclusive", "reverse", "start", "end", "value",
      "num_heads", "q_num_heads", "kv_num_heads", "scale", "is_causal", "softcap", "num_groups", "output_padding", "output_shape", "allowzero", "batch_dims",
      "reduction", "ignore_index", "split", "num_outputs", "size", "bias", "p", "upper", "dtype", "k", "batch_axis", "time_axis", "fmod", "select_last_index",
      "noop_with_empty_axes", "interleaved", "rotary_embedding_dim", "stash_type", "starts", "ends", "detect_positive", "direction", "cubic_coeff_a", "scales",
      "coordinate_transformation_mode", "nearest_mode", "keep_aspect_ratio_policy", "exclude_outside", "antialias", "training_mode", "momentum", "min", "max",
      "hidden_size", "clip", "layout", "input_forget", "linear_before_reset", "activations", "activation_alpha", "activation_beta", "activation", "activation_params",
      "block_size", "bits", "N", "K", "output_dtype", "output_datatype", "gather_axis", "quantize_axis", "channels_last", "opset", "num_scan_inputs",
      "scan_input_axes", "scan_output_axes", "scan_input_directions", "qkv_hidden_sizes", "unidirectional", "do_rotary", "rotary_interleaved", "smooth_softmax",
      "local_window_size", "mask_index_type", "mask_filter_value", "onesided", "inverse", "periodic", "align_corners", "approximate", "alpha", "gamma", "lambd",
      "transBatchA", "transBatchB", "qk_matmul_output_mode", "cubic_coeff_a", "is_inner_broadcast"};
  // clang-format on
  return pick(kNames, random);
}

std::vector<std::string> value_names(const GraphProto& g) {
  std::vector<std::string> names = {""};
  for (const auto& i : g.input()) names.push_back(i.name());
  for (const auto& i : g.initializer()) names.push_back(i.name());
  for (const auto& n : g.node())
    for (const auto& o : n.output()) names.push_back(o);
  return names;
}

std::string fresh_name(const GraphProto& g) {
  const std::vector<std::string> names = value_names(g);
  const std::set<std::string> taken(names.begin(), names.end());
  for (int i = 0;; ++i)
    if (const std::string name = "n" + std::to_string(i); !taken.count(name)) return name;
}

size_t width_of(int type) {
  const std::optional<DType> dtype = dtype_of_onnx(type);
  return dtype ? size_of(*dtype) : 4;
}

// Data that fits the dims, so that the tensor is believed. Elements come from the odd ones.
void fill(TensorProto& t, FuzzRandom& random) {
  uint64_t n = 1;
  for (int64_t d : t.dims()) n = d < 0 || n > 4096 || d > 4096 ? 1 << 20 : n * static_cast<uint64_t>(d);
  t.clear_float_data(), t.clear_int32_data(), t.clear_int64_data(), t.clear_double_data(), t.clear_uint64_data();
  if (n > 1024) return;
  std::string raw;
  for (uint64_t i = 0; i < n; ++i) {
    int64_t bits = once_in(random, 3) ? odd_int(random) : static_cast<int64_t>(below(random, 4));
    if (t.data_type() == TensorProto::FLOAT) {
      const auto f = static_cast<float>(once_in(random, 3) ? odd_float(random) : 0.25 * static_cast<double>(below(random, 8)));
      bits = 0;
      std::memcpy(&bits, &f, 4);
    }
    raw.append(reinterpret_cast<const char*>(&bits), width_of(t.data_type()));
  }
  t.set_raw_data(raw);
}

int odd_type(FuzzRandom& random) {
  return static_cast<int>(once_in(random, 3) ? below(random, 26) : once_in(random, 2) ? TensorProto::FLOAT : TensorProto::INT64);
}

TensorProto& add_initializer(GraphProto& g, FuzzRandom& random) {
  TensorProto& t = *g.add_initializer();
  t.set_name(fresh_name(g));
  t.set_data_type(once_in(random, 2) ? TensorProto::INT64 : odd_type(random));
  for (size_t i = below(random, 4); i > 0; --i) t.add_dims(static_cast<int64_t>(below(random, 5)));
  fill(t, random);
  return t;
}

void change_tensor(TensorProto& t, FuzzRandom& random) {
  switch (below(random, 8)) {
    case 0:
      if (t.dims_size() > 0) t.set_dims(static_cast<int>(below(random, static_cast<size_t>(t.dims_size()))), odd_int(random));
      break;
    case 1: t.add_dims(once_in(random, 2) ? 1 : odd_int(random)); break;
    case 2:
      if (t.dims_size() > 0) t.mutable_dims()->RemoveLast();
      break;
    case 3: t.set_data_type(odd_type(random)); break;
    case 4: fill(t, random); break;
    case 5:  // one element
      if (t.raw_data().size() >= 8) {
        const int64_t v = odd_int(random);
        std::memcpy(&(*t.mutable_raw_data())[below(random, t.raw_data().size() / 8) * 8], &v, 8);
      } else if (t.int64_data_size() > 0) {
        t.set_int64_data(static_cast<int>(below(random, static_cast<size_t>(t.int64_data_size()))), odd_int(random));
      } else if (t.float_data_size() > 0) {
        t.set_float_data(static_cast<int>(below(random, static_cast<size_t>(t.float_data_size()))), static_cast<float>(odd_float(random)));
      }
      break;
    case 6:  // believed again under another shape
      if (t.dims_size() > 0) t.set_dims(static_cast<int>(below(random, static_cast<size_t>(t.dims_size()))), static_cast<int64_t>(below(random, 6)));
      fill(t, random);
      break;
    default: {
      t.set_data_location(TensorProto::EXTERNAL);
      t.clear_external_data();
      for (const char* key : {"location", "offset", "length"}) {
        auto* e = t.add_external_data();
        e->set_key(key);
        e->set_value(std::string(key) == "location" ? (once_in(random, 2) ? "w.bin" : odd_string(random)) : std::to_string(odd_int(random)));
      }
    }
  }
}

void set_value(AttributeProto& a, FuzzRandom& random) {
  a.clear_i(), a.clear_f(), a.clear_s(), a.clear_ints(), a.clear_floats(), a.clear_strings();
  switch (below(random, 8)) {
    case 4:
      a.set_type(AttributeProto::STRINGS);
      for (size_t i = below(random, 7); i > 0; --i) a.add_strings(odd_string(random));
      break;
    case 0: a.set_type(AttributeProto::FLOAT), a.set_f(static_cast<float>(odd_float(random))); break;
    case 1: a.set_type(AttributeProto::STRING), a.set_s(odd_string(random)); break;
    case 2: a.set_type(AttributeProto::FLOATS), a.add_floats(static_cast<float>(odd_float(random))); break;
    case 3:
      a.set_type(AttributeProto::INTS);
      for (size_t i = below(random, 6); i > 0; --i) a.add_ints(once_in(random, 2) ? static_cast<int64_t>(below(random, 4)) : odd_int(random));
      break;
    default: a.set_type(AttributeProto::INT), a.set_i(odd_int(random)); break;
  }
}

void change_attribute(NodeProto& node, FuzzRandom& random) {
  AttributeProto* a = pick_mutable(node.mutable_attribute(), random);
  if (!a || once_in(random, 5)) {
    a = node.add_attribute();
    a->set_name(attribute_name(random));
    return set_value(*a, random);
  }
  if (once_in(random, 8)) {
    node.mutable_attribute()->RemoveLast();
    return;
  }
  if (once_in(random, 10)) return set_value(*a, random);
  if (a->has_t()) return change_tensor(*a->mutable_t(), random);
  if (a->ints_size() > 0) {
    const size_t what = below(random, 6);
    if (what == 0) a->add_ints(odd_int(random));
    else if (what == 1) a->mutable_ints()->RemoveLast();
    else a->set_ints(static_cast<int>(below(random, static_cast<size_t>(a->ints_size()))), odd_int(random));
  } else if (a->floats_size() > 0) {
    a->set_floats(static_cast<int>(below(random, static_cast<size_t>(a->floats_size()))), static_cast<float>(odd_float(random)));
  } else if (a->has_s()) {
    a->set_s(odd_string(random));
  } else if (a->has_f()) {
    a->set_f(static_cast<float>(odd_float(random)));
  } else {
    a->set_i(odd_int(random));
  }
}

void change_edges(GraphProto& g, NodeProto& node, FuzzRandom& random) {
  const std::vector<std::string> names = value_names(g);
  switch (below(random, 7)) {
    case 0: node.add_input(pick(names, random)); break;
    case 1:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      break;
    case 2: node.add_output(once_in(random, 3) ? "" : fresh_name(g)); break;
    case 3:
      if (node.output_size() > 1) node.mutable_output()->RemoveLast();
      break;
    case 4: node.add_input(add_initializer(g, random).name()); break;
    default:
      if (node.input_size() > 0)
        node.set_input(static_cast<int>(below(random, static_cast<size_t>(node.input_size()))),
                       once_in(random, 4) ? add_initializer(g, random).name() : pick(names, random));
  }
}

void add_node(GraphProto& g, FuzzRandom& random) {
  const std::vector<std::string> names = value_names(g);
  const OpDef& op = pick(op_list(), random);
  NodeProto node;
  node.set_op_type(std::string(op.name));
  node.set_domain(std::string(op.domain));
  for (size_t i = 1 + below(random, 3); i > 0; --i) node.add_input(once_in(random, 3) ? add_initializer(g, random).name() : pick(names, random));
  node.add_output(fresh_name(g));
  if (once_in(random, 2)) change_attribute(node, random);
  g.add_output()->set_name(node.output(0));
  *g.add_node() = node;
}

void change_input(GraphProto& g, FuzzRandom& random) {
  onnx::ValueInfoProto* input = pick_mutable(g.mutable_input(), random);
  if (!input) {
    input = g.add_input();
    input->set_name(fresh_name(g));
    input->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  }
  auto* type = input->mutable_type()->mutable_tensor_type();
  auto* shape = type->mutable_shape();
  switch (below(random, 6)) {
    case 0: type->set_elem_type(odd_type(random)); break;
    case 1: shape->add_dim()->set_dim_value(odd_int(random)); break;
    case 2:
      if (shape->dim_size() > 0) shape->mutable_dim()->RemoveLast();
      break;
    case 3: {  // its value becomes part of the model, so that what follows is computed at load
      TensorProto& t = *g.add_initializer();
      t.set_name(input->name());
      t.set_data_type(type->elem_type());
      for (const auto& d : shape->dim()) t.add_dims(d.dim_value());
      fill(t, random);
      break;
    }
    default:
      if (auto* d = pick_mutable(shape->mutable_dim(), random)) d->set_dim_value(once_in(random, 2) ? static_cast<int64_t>(below(random, 8)) : odd_int(random));
  }
}

// The node becomes the body of a local function that is called in its place.
void wrap_in_function(onnx::ModelProto& model, NodeProto& node, FuzzRandom& random) {
  auto* f = model.add_functions();
  f->set_name("F" + std::to_string(below(random, 3)));
  f->set_domain("local");
  for (const auto& i : model.opset_import()) *f->add_opset_import() = i;
  for (const auto& i : node.input()) f->add_input(i);
  for (const auto& o : node.output()) f->add_output(o);
  *f->add_node() = node;
  node.set_op_type(f->name());
  node.set_domain("local");
  if (once_in(random, 3)) *f->add_node() = node;
}

void change_structure(onnx::ModelProto& model, FuzzRandom& random) {
  GraphProto& g = *model.mutable_graph();
  switch (below(random, 5)) {
    case 0:
      if (auto* import = pick_mutable(model.mutable_opset_import(), random)) import->set_version(static_cast<int64_t>(8 + below(random, 18)));
      break;
    case 1:
      if (NodeProto* n = pick_mutable(g.mutable_node(), random)) wrap_in_function(model, *n, random);
      break;
    case 2: {
      const std::vector<std::string> names = value_names(g);
      g.add_output()->set_name(pick(names, random));
      break;
    }
    case 3:
      if (g.node_size() > 1) g.mutable_node()->SwapElements(0, g.node_size() - 1), g.mutable_node()->RemoveLast();
      break;
    default:
      if (g.initializer_size() > 0) {
        TensorProto& t = *pick_mutable(g.mutable_initializer(), random);
        auto* input = g.add_input();
        input->set_name(t.name());
        input->mutable_type()->mutable_tensor_type()->set_elem_type(t.data_type());
        for (int64_t d : t.dims()) input->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(d);
        t.set_name(fresh_name(g));
      }
  }
}

// What moves a cursor, turns the direction of writing, breaks a line, ends a comment, is no text, or is very long.
std::string odd_name(FuzzRandom& random) {
  static const std::vector<std::string> kOdd = {
      "\x1b[2J", "a\nb", "\r", std::string("\0", 1), "\u202e", "\xff\xfe", "\xc3", "*/", "??/", "\\", "'", "\"", "%s", "{}", "\u2028", " "};
  return once_in(random, 4) ? std::string(1 + below(random, 3000), "a\x1b\xe4"[below(random, 3)]) : pick(kOdd, random) + std::to_string(below(random, 3));
}

// Wherever the name stands, so that the edges stay.
void rename_value(GraphProto& g, const std::string& from, const std::string& to) {
  const auto rename = [&](auto* list) {
    for (auto& v : *list)
      if (v.name() == from) v.set_name(to);
  };
  rename(g.mutable_input()), rename(g.mutable_output()), rename(g.mutable_initializer());
  for (NodeProto& n : *g.mutable_node())
    for (auto* names : {n.mutable_input(), n.mutable_output()})
      for (std::string& name : *names)
        if (name == from) name = to;
}

void change_name(onnx::ModelProto& model, FuzzRandom& random) {
  GraphProto& g = *model.mutable_graph();
  NodeProto* node = pick_mutable(g.mutable_node(), random);
  const std::string name = odd_name(random);
  switch (below(random, 7)) {
    case 0: g.set_name(name); break;
    case 1:
      if (node) node->set_name(name);
      break;
    case 2:
      if (node) node->set_op_type(name);
      break;
    case 3:
      if (node && node->attribute_size() > 0) pick_mutable(node->mutable_attribute(), random)->set_name(name);
      break;
    case 4:
      if (auto* input = pick_mutable(g.mutable_input(), random))
        if (auto* dim = pick_mutable(input->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(), random)) dim->set_dim_param(name);
      break;
    case 5:
      if (node) node->set_domain(name);
      break;
    default: {
      const std::vector<std::string> names = value_names(g);
      rename_value(g, pick(names, random), name);
    }
  }
}

// Each node makes its input larger, and the next one that: what doubles 30 times is 10^9 times as large.
void add_chain(GraphProto& g, FuzzRandom& random) {
  const std::vector<std::string> names = value_names(g);
  std::string last = once_in(random, 2) ? add_initializer(g, random).name() : pick(names, random);
  const size_t what = below(random, 4);
  for (size_t i = 5 + below(random, 25); i > 0; --i) {
    const std::string next = fresh_name(g);
    NodeProto& node = *g.add_node();
    node.add_output(next);
    node.set_op_type(what == 0 ? "Concat" : what == 1 ? "Einsum" : what == 2 ? "Tile" : "Pad");
    node.add_input(last);
    if (what == 0) {
      node.add_input(last);
      AttributeProto& axis = *node.add_attribute();
      axis.set_name("axis"), axis.set_type(AttributeProto::INT), axis.set_i(0);
    } else if (what == 1) {
      node.add_input(last);
      AttributeProto& equation = *node.add_attribute();
      equation.set_name("equation"), equation.set_type(AttributeProto::STRING), equation.set_s(once_in(random, 2) ? "i,j->ij" : "i,j->");
    } else {
      node.add_input(add_initializer(g, random).name());
    }
    last = next;
  }
  g.add_output()->set_name(last);
}

void lengthen_list(NodeProto& node, FuzzRandom& random) {
  AttributeProto& a = *node.add_attribute();
  a.set_name(attribute_name(random)), a.set_type(AttributeProto::INTS);
  const int64_t value = odd_int(random);
  for (size_t i = below(random, 3000); i > 0; --i) a.add_ints(value);
}

// The node becomes what one branch of an If does.
void wrap_in_branch(GraphProto& g, NodeProto& node) {
  NodeProto branch;
  branch.set_op_type("If");
  branch.set_name(node.name());
  branch.add_input(value_names(g).back());
  for (const std::string& o : node.output()) branch.add_output(o);
  AttributeProto& body = *branch.add_attribute();
  body.set_name("then_branch"), body.set_type(AttributeProto::GRAPH);
  *body.mutable_g()->add_node() = node;
  node = branch;
}

}  // namespace

void mutate_model(onnx::ModelProto& model, FuzzRandom& random) {
  GraphProto& g = *model.mutable_graph();
  NodeProto* node = pick_mutable(g.mutable_node(), random);
  switch (below(random, 13)) {
    case 0:
    case 1:
      if (auto* t = pick_mutable(g.mutable_initializer(), random)) return change_tensor(*t, random);
      [[fallthrough]];
    case 2:
    case 3:
    case 4:
      if (node) return change_attribute(*node, random);
      [[fallthrough]];
    case 5:
      if (node) return change_edges(g, *node, random);
      [[fallthrough]];
    case 6: return add_node(g, random);
    case 7: return change_input(g, random);
    case 8:
      if (node) {
        const OpDef& op = pick(op_list(), random);
        node->set_op_type(std::string(op.name));
        node->set_domain(std::string(op.domain));
        return;
      }
      [[fallthrough]];
    case 9: return change_name(model, random);
    case 10:
      if (once_in(random, 3)) return add_chain(g, random);
      if (node) return lengthen_list(*node, random);
      [[fallthrough]];
    case 11:
      if (node && once_in(random, 4)) return wrap_in_branch(g, *node);
      [[fallthrough]];
    default: return change_structure(model, random);
  }
}

void splice_model(onnx::ModelProto& a, const onnx::ModelProto& b, FuzzRandom& random) {
  GraphProto& g = *a.mutable_graph();
  const std::vector<std::string> feeds = value_names(g);
  const auto renamed = [](const std::string& name) { return name.empty() ? name : "b_" + name; };
  for (TensorProto t : b.graph().initializer()) {
    t.set_name(renamed(t.name()));
    *g.add_initializer() = t;
  }
  for (auto input : b.graph().input()) {
    input.set_name(renamed(input.name()));
    *g.add_input() = input;
  }
  for (NodeProto node : b.graph().node()) {
    for (std::string& name : *node.mutable_input()) name = once_in(random, 3) ? pick(feeds, random) : renamed(name);
    for (std::string& name : *node.mutable_output()) name = renamed(name);
    *g.add_node() = node;
  }
  for (const auto& output : b.graph().output()) g.add_output()->set_name(renamed(output.name()));
}

}  // namespace amdahl::testing

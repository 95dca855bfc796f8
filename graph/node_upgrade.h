#pragma once
// A node of an older version of the standard on its way into the form of a newer one. What the standard changed is said in the operator's row (OpDef::changes).

#include <string>

#include "graph/graph.h"
#include "graph/node_writer.h"

namespace amdahl {

struct NodeUpgrade {
  Graph& graph;
  Node& node;
  NodeWriter write;       // nodes that come before it, or stand in for it
  bool replaced = false;  // by nodes that were written

  void put(size_t i, ValueId v);
  // Attributes that became inputs. The first does nothing where the node does not have it.
  void ints_to_input(const std::string& name, size_t i);
  void float_to_input(const std::string& name, size_t i, double otherwise);
};

void axes_to_input(NodeUpgrade& u);  // of operators of several families

}  // namespace amdahl

#include "graph/builders.h"

namespace amdahl {

const std::vector<Builder>& builder_list() {
  static const std::vector<Builder> list;
  return list;
}

const Builder* find_builder(std::string_view name) {
  for (const Builder& b : builder_list())
    if (b.name == name) return &b;
  return nullptr;
}

}  // namespace amdahl

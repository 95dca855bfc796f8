#include "playbook/playbook.h"

namespace amdahl {

// Order is meaning: a prior over what is tried first.
const std::vector<const Rewrite*>& playbook() {
  static const std::vector<const Rewrite*> rewrites{
      // one line a rewrite
  };
  return rewrites;
}

const Rewrite* find_rewrite(std::string_view name) {
  for (const Rewrite* rewrite : playbook())
    if (rewrite->name() == name) return rewrite;
  return nullptr;
}

}  // namespace amdahl

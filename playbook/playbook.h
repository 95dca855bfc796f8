#pragma once
// The rewrites, one function each, defined in tierN_…/<verb_object>.cc; playbook.cc puts them in order.

#include "playbook/rewrite.h"

namespace amdahl {

// One line a rewrite: const Rewrite* fuse_bias_gelu();

}  // namespace amdahl

#pragma once
// Keys and values of a decode step: those of earlier tokens are inputs, "past.LAYER.key" and "past.LAYER.value"; the new token's own are outputs, "new.…", for
// the caller to put behind them.

#include <string>
#include <utility>
#include <vector>

#include "graph/models/layer_writer.h"

namespace amdahl {

class EarlierTokens {
 public:
  // `keys` in all, the new token's among them. The writer must outlive it.
  EarlierTokens(LayerWriter& writer, int64_t keys) : writer_(writer), keys_(keys) {}
  // `own`: [batch, heads, 1, head] -> [batch, heads, keys, head]. `what`: "key", "value".
  ValueId before(int64_t layer, const std::string& what, ValueId own);
  // The step, called `name`: its logits, then what the new token has for later ones.
  Graph finish(const std::string& name, ValueId logits);

 private:
  LayerWriter& writer_;
  int64_t keys_;
  std::vector<std::pair<std::string, ValueId>> outputs_;
};

}  // namespace amdahl

#pragma once
// The shipped architectures, a file each; `mini` is the same structure at sizes that run in milliseconds.

#include "graph/models/builders.h"

namespace amdahl {

Graph build_gpt2(const BuilderSizes& sizes);
Graph build_gpt2_mini(const BuilderSizes& sizes);
Graph build_gpt2_decode(const BuilderSizes& sizes);
Graph build_gpt2_decode_mini(const BuilderSizes& sizes);
Graph build_bert_base(const BuilderSizes& sizes);
Graph build_bert_mini(const BuilderSizes& sizes);
Graph build_llama_160m(const BuilderSizes& sizes);
Graph build_llama_mini(const BuilderSizes& sizes);
Graph build_llama_160m_decode(const BuilderSizes& sizes);
Graph build_llama_decode_mini(const BuilderSizes& sizes);
Graph build_resnet50(const BuilderSizes& sizes);
Graph build_resnet_mini(const BuilderSizes& sizes);
Graph build_mobilenet_v2(const BuilderSizes& sizes);
Graph build_mobilenet_mini(const BuilderSizes& sizes);
Graph build_vit_b16(const BuilderSizes& sizes);
Graph build_vit_mini(const BuilderSizes& sizes);

}  // namespace amdahl

#include "graph/models/builders.h"

#include "graph/models/architectures.h"
#include "graph/models/narrowed.h"

namespace amdahl {

const std::vector<ShippedModel>& shipped_models() {
  static const std::vector<ShippedModel> list{
      {"gpt2", "GPT-2, 124M parameters, 12 layers of 768; --seq 128, --batch 1", build_gpt2},
      {"bert-base", "BERT-base, 109M parameters, 12 layers of 768; --seq 128, --batch 1", build_bert_base},
      {"llama-160m", "LLaMA-style, 162M parameters, 12 layers of 768; --seq 128, --batch 1", build_llama_160m},
      {"resnet50", "ResNet-50, 25.5M parameters; --image 224, --batch 1", build_resnet50},
      {"mobilenet-v2", "MobileNetV2, 3.5M parameters; --image 224, --batch 1", build_mobilenet_v2},
      {"vit-b16", "ViT-B/16, 86.6M parameters, 12 layers of 768; --image 224, --batch 1", build_vit_b16},
      {"gpt2-decode", "a token of GPT-2 behind others; --seq 512 keys, its own among them, --batch 1", build_gpt2_decode},
      {"llama-160m-decode", "a token of the LLaMA-style model behind others; --seq 512 keys, its own among them, --batch 1", build_llama_160m_decode},
      {"gpt2-mini", "GPT-2 of 2 layers of 64, for tests; --seq 16, --batch 1", build_gpt2_mini},
      {"bert-mini", "BERT of 2 layers of 64, for tests; --seq 16, --batch 1", build_bert_mini},
      {"llama-mini", "LLaMA of 2 layers of 64, for tests; --seq 16, --batch 1", build_llama_mini},
      {"resnet50-mini", "ResNet of 5 blocks, for tests; --image 64, --batch 1", build_resnet_mini},
      {"mobilenet-mini", "MobileNetV2 of 6 blocks, for tests; --image 32, --batch 1", build_mobilenet_mini},
      {"gpt2-decode-mini", "a token of gpt2-mini behind others, for tests; --seq 16 keys, --batch 1", build_gpt2_decode_mini},
      {"llama-decode-mini", "a token of llama-mini behind others, for tests; --seq 16 keys, --batch 1", build_llama_decode_mini},
      {"vit-mini", "ViT of 2 layers of 64, for tests; --image 32, --batch 1", build_vit_mini},
  };
  return list;
}

const ShippedModel* find_shipped_model(std::string_view name) {
  for (const ShippedModel& b : shipped_models())
    if (b.name == name) return &b;
  return nullptr;
}

std::optional<Graph> build_shipped_model(std::string_view name, const BuilderSizes& sizes) {
  const size_t at = name.find('@');
  const ShippedModel* model = find_shipped_model(name.substr(0, at));
  if (!model) return std::nullopt;
  if (at == std::string_view::npos) return model->build(sizes);
  const std::string_view type = name.substr(at + 1);
  if (type != "fp16" && type != "bf16") return std::nullopt;
  Graph graph = model->build(sizes);
  narrow_floats(graph, type == "fp16" ? DType::kF16 : DType::kBF16);
  return graph;
}

}  // namespace amdahl

#pragma once
// The kinds by name, as sessions store them: append only.

#include <string_view>

namespace amdahl::kind {

inline constexpr std::string_view kMatmul = "matmul";
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kFusedMlp = "fused_mlp";
inline constexpr std::string_view kConv = "conv";
inline constexpr std::string_view kInvertedResidual = "inverted_residual";
inline constexpr std::string_view kPool = "pool";
inline constexpr std::string_view kReorder = "reorder";
inline constexpr std::string_view kSoftmax = "softmax";
inline constexpr std::string_view kLayerNorm = "layernorm";
inline constexpr std::string_view kRmsNorm = "rmsnorm";
inline constexpr std::string_view kReduce = "reduce";
inline constexpr std::string_view kCrossEntropy = "cross_entropy";
inline constexpr std::string_view kRotaryEmbedding = "rotary_embedding";
inline constexpr std::string_view kRecurrence = "recurrence";
inline constexpr std::string_view kPointwise = "pointwise";
inline constexpr std::string_view kMovement = "movement";
inline constexpr std::string_view kPlain = "plain";

}  // namespace amdahl::kind

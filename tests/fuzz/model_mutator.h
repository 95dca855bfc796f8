#pragma once
// Changes a ModelProto the way a damaged or malicious exporter would. Bytes alone mostly break the framing of protobuf; this
// keeps the framing and lies about dimensions, types, attributes and edges.

#include <onnx/onnx_pb.h>

#include <random>

namespace amdahl::testing {

using FuzzRandom = std::minstd_rand;

// One small change. A model that is empty of what a change needs may stay as it is.
void mutate_model(onnx::ModelProto& model, FuzzRandom& random);

// Adds b's nodes to a, some of a's values feeding them.
void splice_model(onnx::ModelProto& a, const onnx::ModelProto& b, FuzzRandom& random);

}  // namespace amdahl::testing

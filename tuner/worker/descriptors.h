#pragma once
// Descriptors that a worker is born with, beside those of its conversation.

namespace amdahl {

constexpr int kConstantsDescriptor = 3;  // structural constants, a model's weights; for reading only
constexpr int kInputsDescriptor = 4;     // inputs, seeded weights; for reading only
constexpr int kOutputsDescriptor = 5;

}  // namespace amdahl

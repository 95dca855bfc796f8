#pragma once
// What the self-tests of all formats that have one share: the recorded case, and what their texts say of it.

#include "export/export_folder.h"
#include "export/exporter.h"

namespace amdahl {

// selftest.bin: inputs, then the outputs that are right for them, one after the other.
void write_self_test(ExportFolder& folder, const SelfTestCase& test);

// NAME, PROVENANCE, THREADS, LIMIT (of the relative norm), MILLISECONDS; INPUTS and OUTPUTS: lists of [name, type, shape] as Python
// and JSON write them.
Words self_test_words(const ExportRequest& request);

}  // namespace amdahl

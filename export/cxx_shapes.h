#pragma once
// The part of the cxx format that a model tuned for several shapes has besides: one interface for all shapes, which takes the
// plan tuned for the shape at hand, or puts inputs into the next larger one where that was found to be right.

#include "export/export_folder.h"
#include "export/exporter.h"

namespace amdahl {

// src/shapes.cpp with its tables and the self-test's second part. Writes nothing for a model of one shape.
void write_shapes(ExportFolder& folder, const std::string& name, const ExportRequest& request);

// What the other templates of the format have in place of @WORDS@ for it.
Words shape_words(const std::string& name, const ExportRequest& request);

// For model_tables.h: how many shapes there are, and what a run of one needs besides for inputs and outputs of other sizes.
std::string shape_constants(const ExportRequest& request);

}  // namespace amdahl

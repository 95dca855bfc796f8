#pragma once
// What the report page shows, as one JSON document: what needs a formula is computed here, the page sums and draws. Seconds
// stay seconds, gains stay logs. A number that is not there (never measured, or not finite) is null.

#include <functional>
#include <string>

#include "experiments/session.h"

namespace amdahl {

// The text of a kernel; "" when it is not known.
using SourceOf = std::function<std::string(const Variant&)>;

// Texts of kernels (and of those that they replaced) come with kept experiments alone: all of a session are tens of megabytes.
Json report_data(const SessionStore& store, const SessionIdentity& identity, const SourceOf& source_of);

// `data` for the inside of a <script> element: no "</script>" or "<!--" in any text can end it.
std::string script_json(const Json& data);

}  // namespace amdahl

#pragma once
// The report as one HTML file that opens from the disk: style, scripts, plots and data are all inside, nothing is fetched.

#include <string>

#include "experiments/report_data.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {

// The page around `data` (report_data.h). `vega` is the script that draws the plots (vega.h).
// With `reload_seconds` it loads itself again that often, while nobody is busy on it: of a session that is being tuned.
std::string report_page(const Json& data, const std::string& vega, int reload_seconds = 0);

// report_page() of a session. Throws Error(kIo) as vega_script() does.
std::string report_page(const Session& session, const Target& target, int reload_seconds = 0);

}  // namespace amdahl

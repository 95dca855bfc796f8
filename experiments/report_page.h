#pragma once
// The report as one HTML file that opens from the disk: style, scripts, plots and data are all inside, nothing is fetched.

#include <string>

#include "experiments/report_data.h"

namespace amdahl {

// The page around `data` (report_data.h). `vega` is the script that draws the plots (vega.h).
std::string report_page(const Json& data, const std::string& vega);

// report_page() of a session. Throws Error(kIo) as vega_script() does.
std::string report_page(const Session& session);

}  // namespace amdahl

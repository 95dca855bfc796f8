#pragma once

#include <vector>

namespace amdahl {

// Half of the values are no larger: the middle one, or the mean of the two in the middle. 0 of none. None may be NaN.
double median(std::vector<double> values);

}  // namespace amdahl

#pragma once
// Memory as a kernel wants it: of whole 2 MiB pages where the system has them, so that no time goes into address translation.

#include <cstddef>
#include <memory>

namespace amdahl {

using HugeArray = std::shared_ptr<float[]>;
HugeArray huge_array(size_t count);  // zeros; every page is there already

}  // namespace amdahl

#pragma once

#include <string>

namespace amdahl {

// $AMDAHL_WORKER, else amdahl-worker beside this program or one folder up (as built), else ../libexec/amdahl (as installed).
// Throws Error(kIo).
std::string worker_program();

}  // namespace amdahl

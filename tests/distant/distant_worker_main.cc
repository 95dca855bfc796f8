// The worker program of tests/distant/distant_backend.h.

#include "tests/distant/distant_backend.h"
#include "tuner/worker/serve_worker.h"

int main(int argc, char** argv) { return amdahl::serve_worker(argc, argv, {&amdahl::testing::distant_backend()}); }

// amdahl-worker: see tuner/worker/serve_worker.h.

#include "tuner/worker/serve_worker.h"
#include "tuner/worker/worker_backends.h"

int main(int argc, char** argv) { return amdahl::serve_worker(argc, argv, amdahl::worker_backends()); }

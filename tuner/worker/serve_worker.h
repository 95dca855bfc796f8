#pragma once
// The worker program: loads candidates' code and runs it on request. It holds neither the clock, nor seeds, nor expected outputs,
// nor the verdict. What it answers is either checked by the supervisor or only a diagnostic: the outputs themselves lie in
// memory that the supervisor reads after it has stopped this process.
//
//   --backend NAME      what its kernels run on
//   --memory BYTES      that it may have; 0 or nothing: any number
//
// It speaks tuner/worker/protocol.h over stdin and stdout; descriptors as in tuner/worker/descriptors.h. Requests, each answered by {nonce, …} or
// {nonce, "error": text}:
//   enter   libraries: the confinement closes, threads start, the libraries can be loaded; no code of theirs runs
//   load    libraries, clock: their constructors run; after it the confinement is sealed
//   bind    program, layout, places, twin     maps operands, packs constants; with `twin` a second instance over the same operands
//   repack                               packs constants again
//   ready   scribble                              wakes the threads, scribbles over some lines of the workspace; the operands of what comes are not there yet
//   run     first, count, times          -> nothing: the supervisor's clock is running
//   trial   slot, scribble, team, nested, seed    one call, with scribbled workspace and temporaries -> digests of the outputs at its return
//   both    times, processors            two instances at once: even slots by one, odd ones by the other -> differs: a slot's outputs from time to time
//   report                               -> damaged; float_control_changed, on any thread, and handlers_changed, since before a library was loaded
//   steps   n                            -> seconds: by call, summed over n runs

#include <vector>

#include "tuner/worker/worker_backend.h"

namespace amdahl {

// The whole of main(): serves until the supervisor is gone, and ends the process. Returns only when it cannot begin.
int serve_worker(int argc, char** argv, const std::vector<const WorkerBackend*>& backends);

}  // namespace amdahl

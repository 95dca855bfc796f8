#pragma once
// What is run through the pipeline to see how often it is wrong: the same code in both arms, code that only lies elsewhere,
// edits without effect, and planted time. Each appends to FOLDER/<study>.jsonl and goes on where it was stopped.

#include <string>
#include <vector>

#include "bench/trust/window_under_test.h"

namespace amdahl::trust {

struct StudyOptions {
  std::string folder = "trust-logs";
  std::vector<std::string> windows;                         // taken in turn
  int count = 1;                                            // trials that came to be measured; of planted, by effect
  std::vector<double> effects{1, 2, 3, 5, -1, -2, -3, -5};  // percent
  int verify_pairs = 30;                                    // of the true effect of each planted time
  double minutes = 0;                                       // no trial begins after so long; 0: all of them are run
  WindowOptions trial;
};

// "aa", "placebo-builds", "placebo-edits", "planted".
std::vector<std::string> study_names();
// Its edits are those of texts for a processor.
bool is_of_processors(const std::string& name);
// Throws Error, and Stopped on Ctrl-C.
void run_study(const std::string& name, const StudyOptions& options);

}  // namespace amdahl::trust

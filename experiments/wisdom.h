#pragma once
// What earlier sessions proved, kept across sessions: one SQLite file in the user's cache folder.
//
// A form is kept by the signature of the window it replaces (plan/plan.h: operators, attributes, shapes, dtypes, wiring; not
// the weights), so that it is found again in any model that has such a window. It is offered only at the place where it was
// proven: CPU, compilers, threads, and precision that may be given up. What is offered is a candidate like any other: the
// judge, both proofs and the gate have the last word again.
//
// A form that was not proven by this account of this machine is from outside and carries that mark (provenance.h).
//
//   forms    signature, machine, compiler, threads, allowed (the key); rewrite, window, steps, log_gain, model, proven_at, home, origin

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/session_store.h"
#include "plan/plan.h"

namespace amdahl {

struct WisdomPlace {
  std::string machine;   // DeviceInfo::fingerprint()
  std::string compiler;  // Toolchain::description()
  int threads = 1;
  std::string allowed;  // precision given up: "" none, "bf16"
  auto operator<=>(const WisdomPlace&) const = default;
};

struct WisdomForm {
  std::string signature;
  WisdomPlace place;
  std::string rewrite, window;  // of the experiment that led to it: "fuse_epilogue", "matmul [128, 768] + pointwise [128, 768]"
  std::vector<Step> steps;      // with the window's own numbers (localized())
  double log_gain = 0;          // of the window, log(before / after), all keeps of the session together
  std::string model;
  int64_t proven_at = 0;  // Unix time
  std::string home;       // of who proved it (home_of()); "" unknown
  std::string origin;     // "" of the search of who proved it; else where the form, or a text in it, came from
};

// The forms that the gate confirmed in a session, one a signature: its last. `place` is the session's; a form that gives nothing
// up is kept as such, whatever was allowed.
std::vector<WisdomForm> proven_forms(const Graph& graph, const SessionStore& session, const WisdomPlace& place, const std::string& model, int64_t now);

// Marks what was not proven by `home`: it came with the file `from`, taken in or used on `day`.
void mark_outside(std::vector<WisdomForm>& forms, const std::string& home, const std::string& from, const std::string& day);

// Of these, what may be offered at `place`, by signature. What gives up precision is preferred where that is allowed.
std::map<std::string, WisdomForm> known_at(const std::vector<WisdomForm>& forms, const WisdomPlace& place);

// Why nothing is offered for a window of this signature, described as Opportunity::describe() does: "proven on another CPU", ….
// "" when a form is.
std::string why_unknown(const std::vector<WisdomForm>& forms, const WisdomPlace& place, const std::string& signature, const std::string& window);

class Wisdom {
 public:
  // Made when it is not there. A file that is damaged, or none of ours, is set aside under another name, and *note says so.
  // Throws Error(kIo, kSessionBusy).
  static Wisdom open(const std::string& path, std::string* note);

  std::vector<WisdomForm> forms() const;  // newest first
  // Takes in what is new, or gains more than the form of the same key, or is the same form proven again. A form from outside never takes the
  // place of one that is not. Returns how many.
  int learn(const std::vector<WisdomForm>& forms);
  // Drops forms for which `useless` holds. Returns how many.
  int forget(const std::function<bool(const WisdomForm&)>& useless);
  const std::string& path() const { return path_; }

 private:
  explicit Wisdom(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// wisdom.db in the cache folder.
std::string default_wisdom(const std::string& cache_dir);

}  // namespace amdahl

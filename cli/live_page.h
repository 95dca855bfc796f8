#pragma once
// The report's page of a session that is being tuned: written again when there is something new, whole or not at all, and told
// to reload itself; the last one stands still.

#include <string>

#include "base/clock.h"
#include "experiments/session.h"

namespace amdahl {

// What is wrong with the path or the plots shows before hours of work, and before a session is made for them. Throws Error(kIo), and what page_path() throws.
void require_page(const std::string& path);

class LivePage {
 public:
  // Writes the first page. Throws as require_page().
  LivePage(const Session& session, const std::string& path);
  // Written unless the last one is young. Never throws: a full disk must not end a session.
  void refresh();
  // Throws Error(kIo).
  void finish();

 private:
  void write(int reload_seconds);

  const Session& session_;
  std::string path_;
  Clock::time_point written_{};
  double took_ = 0;  // seconds
};

}  // namespace amdahl

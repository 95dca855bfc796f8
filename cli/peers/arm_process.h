#pragma once
// A program under test, in a process of its own that is stopped (SIGSTOP) but for its turns: a pool whose idle threads spin would slow down whoever runs then.
//
// Protocol on stdin and stdout, a line each: the arm says "ready MS_TO_LOAD" when it can compute; to "run N" it answers "times MS MS …", to "save DIR" it
// writes its outputs of the last run as DIR/0.npy … and answers "saved" ("none" where it has nothing to write), to "reference DIR" likewise those that it wants to
// be compared with; "quit" ends it. What else it says goes to stderr, whose last line is the reason when it dies.

#include <stdexcept>
#include <string>
#include <vector>

namespace amdahl {

struct ArmCommand {
  std::vector<std::string> argv;         // argv[0] is looked up in PATH
  std::vector<std::string> environment;  // "NAME=value", in place of ours of that name; of ours nothing that steers OpenMP comes along
};

// Died, hangs, or says what is no answer. The message is one line for people.
class ArmFailed : public std::runtime_error {
  using runtime_error::runtime_error;
};

class ArmProcess {
 public:
  // Starts it and waits until it is ready. Throws ArmFailed, Error(kIo) when the machine cannot start processes, Error(kInterrupted) on Ctrl-C.
  ArmProcess(const ArmCommand& command, double seconds);
  ~ArmProcess();  // kills it, and what it has started
  ArmProcess(const ArmProcess&) = delete;

  // One request. Answers with the words behind `word`, or "none" where outputs were asked for. Throws as the constructor does; after ArmFailed the process is gone.
  std::vector<std::string> ask(const std::string& line, const std::string& word, double seconds);

 private:
  ArmProcess() = default;
  std::vector<std::string> expect(const std::string& word, double seconds);
  std::string read_line(double seconds);
  void stop();
  int end();  // kills it, with all that it has started; its status as of waitpid()
  [[noreturn]] void fail(const std::string& why);
  std::string last_words() const;

  int pid_ = -1, socket_ = -1, words_ = -1;
  std::string unread_;
};

}  // namespace amdahl

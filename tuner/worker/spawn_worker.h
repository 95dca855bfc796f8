#pragma once
// Starts a program in a process group and, where the kernel allows it, in a PID namespace of its own: then no number that it
// can name is a process or thread of anybody else, and whatever it starts dies with it.

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace amdahl {

// What keeps the numbers of other processes out of a worker's reach.
enum class PidWall {
  kNone,           // the kernel refuses namespaces: system calls that take a number are refused instead, as far as honest code allows
  kNamespace,      // a PID namespace, made with the rights of root
  kUserNamespace,  // a PID namespace inside a user namespace: needs no rights
};

// The strongest wall that this process can have; found by trying, once.
PidWall pid_wall();

struct SpawnRequest {
  std::vector<std::string> arguments;  // [0]: path of the program
  std::vector<std::string> environment;
  std::vector<std::pair<int, int>> descriptors;  // (ours, the program's); nothing else is handed on
  bool behind_pid_wall = true;                   // pid_wall(), where there is one
};

// The process's number as we see it, or -1 with errno set.
pid_t spawn_worker(SpawnRequest request);

}  // namespace amdahl

#pragma once
// Why a model cannot run: everything that is wrong with it at once, so that nobody mends one thing to be told of the next.

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace amdahl {

class Refusals {
 public:
  // What the places have in common comes first: "Frobnicate (ai.onnx 17)" for nodes, "" for inputs and initializers.
  void add(const std::string& what, const std::string& kind, const std::string& name, const std::string& why);
  bool empty() const { return groups_.empty(); }
  // Throws Error(kUnsupported) when there are any: a line for each operator, with the number of places and some of their names.
  void raise() const;

 private:
  using Places = std::vector<std::string>;
  struct Group {
    std::string what, kind;
    std::vector<std::pair<std::string, Places>> whys;  // as they were met
    std::map<std::string, size_t> at;                  // a why's index there
  };
  static std::string line_of(const Group& group);

  std::vector<Group> groups_;  // as they were met
  std::map<std::pair<std::string, std::string>, size_t> at_;
};

// "Frobnicate (ai.onnx 17)"
std::string operator_text(const std::string& domain, const std::string& op, int version);

}  // namespace amdahl

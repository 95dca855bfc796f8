#pragma once
// Tables of docs/trust.

#include <string>
#include <vector>

namespace amdahl::trust {

class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> header) : columns_(header.size()) {
    add(std::move(header));
    text_ += '|';
    for (size_t i = 0; i < columns_; ++i) text_ += "---|";
    text_ += '\n';
  }
  void add(const std::vector<std::string>& cells) {
    text_ += '|';
    for (const std::string& c : cells) text_ += ' ' + c + " |";
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

 private:
  size_t columns_;
  std::string text_;
};

}  // namespace amdahl::trust

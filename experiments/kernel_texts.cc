#include "experiments/kernel_texts.h"

namespace amdahl {

int KernelTexts::add(const std::string& text) {
  const auto [it, fresh] = numbers_.emplace(text, static_cast<int>(texts_.size()));
  if (!fresh) return it->second;
  std::vector<int> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    lines.push_back(line(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  texts_.push_back(std::move(lines));
  return it->second;
}

int KernelTexts::line(std::string_view text) {
  const auto [it, fresh] = line_numbers_.emplace(text, static_cast<int>(lines_.size()));
  if (fresh) lines_.emplace_back(text);
  return it->second;
}

Json KernelTexts::json() const { return {{"lines", lines_}, {"texts", texts_}}; }

}  // namespace amdahl

#include "cli/shape_lists.h"

#include <algorithm>
#include <charconv>

namespace amdahl {
namespace {

class Reader {
 public:
  Reader(const std::string& text, int64_t least) : at_(text.data()), end_(text.data() + text.size()), least_(least) {}

  bool done() const { return at_ == end_; }
  bool take(char c) { return at_ < end_ && *at_ == c && ++at_; }
  bool number(int64_t& value) {
    const auto [next, error] = std::from_chars(at_, end_, value);
    at_ = next;
    return error == std::errc{} && value >= least_;
  }
  // One number, or the choices in a pair of braces.
  bool item(std::vector<int64_t>& values) {
    const bool braces = take('{');
    do {
      if (!number(values.emplace_back())) return false;
    } while (braces && take(','));
    return !braces || (values.size() > 1 && take('}'));
  }

 private:
  const char *at_, *end_;
  int64_t least_;
};

}  // namespace

std::optional<ShapeList> parse_shape_list(const std::string& text, int64_t least) {
  Reader reader(text, least);
  std::vector<std::vector<int64_t>> items;
  if (!reader.done()) do {
      if (!reader.item(items.emplace_back())) return std::nullopt;
    } while (reader.take(','));
  if (!reader.done()) return std::nullopt;

  ShapeList list;
  size_t count = 1;
  for (const std::vector<int64_t>& item : items) {
    if (item.size() == 1) continue;
    if (count > 1 && item.size() != count) return std::nullopt;
    count = item.size();
    list.choices.push_back(item);
  }
  for (size_t i = 0; i < count; ++i) {
    Shape& shape = list.shapes.emplace_back();
    for (const std::vector<int64_t>& item : items) shape.push_back(item.size() == 1 ? item[0] : item[i]);
  }
  return list;
}

}  // namespace amdahl

#include "graph/onnx/known_limits.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace amdahl {
namespace {

struct Limit {
  const char* why;
  std::vector<std::string_view> operators;
};

const std::vector<Limit>& limits() {
  static const std::vector<Limit> all = {
      {"its output is random: make the random numbers an input of the model",
       {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}},
      {"the shape of its output depends on the data: end the model before it", {"NonMaxSuppression", "Unique"}},
      {"sequences of tensors are not supported: stack them into one tensor",
       {"ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap",
        "SplitToSequence"}},
      {"optional values are not supported: give the model the tensor", {"Optional", "OptionalGetElement", "OptionalHasElement"}},
      {"it works on text: let a tokenizer before the model do it", {"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"}},
      {"it reads files of pictures: decode them before the model", {"ImageDecoder"}},
  };
  return all;
}

}  // namespace

std::string why_unknown(const std::string& domain, const std::string& op) {
  if (domain.empty() || (domain == "com.microsoft" && op == "Unique"))
    for (const Limit& limit : limits())
      if (std::find(limit.operators.begin(), limit.operators.end(), op) != limit.operators.end()) return limit.why;
  return "unknown operator";
}

}  // namespace amdahl

// Every operator on inputs of every rank, from the outside and as constants: each is refused with a reason, or loads. What a shape rule, an evaluator or an
// expansion takes for granted is read beside a shape's end otherwise, which ./check --sanitize sees.

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/graph/one_node.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using testing::OneNode;

constexpr size_t kMostRank = 6;

// Of the sort that the signature's letter says.
RefTensor any_tensor(char letter, size_t rank) {
  const Shape shape(rank, 2);
  const auto count = static_cast<size_t>(numel(shape));
  switch (letter | 0x20) {
    case 'f':
    case 'n':
    case 'a': return test::floats(shape, std::vector<double>(count, 1.0));
    case 'b': {
      RefTensor t = test::ints(shape, std::vector<int64_t>(count, 1));
      t.dtype = DType::kBool;
      return t;
    }
    default: return test::ints(shape, std::vector<int64_t>(count, 1));
  }
}

// "" or what is thrown that is no answer.
std::string loads_or_is_refused(const OpDef& op, size_t rank, size_t inputs, bool constants) {
  OneNode node(std::string(op.domain), std::string(op.name), 23);
  const std::string_view letters = op.inputs.ends_with('+') ? op.inputs.substr(0, op.inputs.size() - 1) : op.inputs;
  for (size_t i = 0; i < inputs; ++i) {
    const RefTensor t = any_tensor(letters[std::min(i, letters.size() - 1)], rank);
    constants ? node.known(t) : node.data(t);
  }
  for (const char* name : {"num_heads", "kv_num_heads", "q_num_heads", "hidden_size", "N", "K", "block_size", "num_groups", "blocksize", "size"})
    node.set(name, 2);
  try {
    node.load(static_cast<size_t>(std::max(1, op.outputs)));
  } catch (const Error& e) {
    return e.code() == ExitCode::kInternal ? e.what() : "";
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(AnyRank, IsRefusedOrLoads) {
  for (const OpDef& op : op_list()) {
    const size_t most = op.inputs.size() - op.inputs.ends_with('+');
    for (size_t rank = 0; rank <= kMostRank; ++rank)
      for (size_t inputs = 1; inputs <= most; ++inputs)
        for (const bool constants : {false, true})
          EXPECT_EQ(loads_or_is_refused(op, rank, inputs, constants), "")
              << op.domain << " " << op.name << ", " << inputs << (constants ? " constants" : " inputs") << " of rank " << rank;
  }
}

// A third output is one too many, and no second one is a third less.
TEST(AnyRank, MoreOutputsThanTopKHasAreRefused) {
  OneNode node("", "TopK", 13);
  node.data(test::floats({3, 4}, std::vector<double>(12, 1.0))).known(test::ints({1}, {2}));
  EXPECT_NE(node.refusal(3).find("3 outputs, at most 2 are known"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

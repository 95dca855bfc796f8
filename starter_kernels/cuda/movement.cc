// How an NVIDIA card computes the movement kind (starter_kernels/kinds/movement.cc).

#include "starter_kernels/kinds/movement.h"

#include <fmt/format.h>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/copy_loops.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

struct Emitted {
  std::string body;  // of a function of in, out and the number of a block
  int64_t blocks = 0;
};

Emitted emit_transpose(const Problem& problem, const StridedCopy& copy, const CopyLoops& loops, int64_t tile) {
  const IndexSpace& s = loops.space;
  const auto along = static_cast<size_t>(loops.along);
  const std::string type = bits_type(problem.out[static_cast<size_t>(copy.out)].dtype);
  // The two dimensions of a tile become numbers of tiles.
  Shape blocks = s.dims, in_strides = s.strides[0], out_strides = s.strides[1];
  for (size_t d : {along, s.dims.size() - 1}) {
    blocks[d] = ceil_div(s.dims[d], tile);
    in_strides[d] = out_strides[d] = 0;
  }
  std::string text = unflatten_text("block", blocks, 0, "  ");
  text += fmt::format("  const {0}* from = (const {0}*)in[{1}] + {2};\n", type, copy.in, offset_text(in_strides, 0, s.offsets[0]));
  text += fmt::format("  {0}* to = ({0}*)out[{1}] + {2};\n", type, copy.out, offset_text(out_strides, 0, s.offsets[1]));
  text += fmt::format("  transpose_tile(from, {}, to, {}, i{} * TILE, {}, i{} * TILE, {});\n", s.strides[0].back(), s.strides[1][along], along, s.dims[along],
                      s.dims.size() - 1, s.dims.back());
  return {text, numel(blocks)};
}

Emitted emit_points(const Problem& problem, const StridedCopy& copy, const CopyLoops& loops, int64_t points_of_block, uint64_t fill) {
  const IndexSpace& s = loops.space;
  const std::string type = bits_type(problem.out[static_cast<size_t>(copy.out)].dtype);
  const std::string value =
      copy.in < 0 ? fmt::format("({}){}ull", type, fill) : fmt::format("((const {}*)in[{}])[{}]", type, copy.in, offset_text(s.strides[0], 0, s.offsets[0]));
  return {fmt::format("  for_points(block, {}, [&](int64_t n) {{\n{}    (({}*)out[{}])[{}] = {};\n  }});\n", s.points(), unflatten_text("n", s.dims, 0, "    "),
                      type, copy.out, offset_text(s.strides[1], 0, s.offsets[1]), value),
          ceil_div(s.points(), points_of_block)};
}

Emitted emit_gather(const Problem& problem, const GatherSizes& sizes, int64_t points_of_block) {
  const auto [outer, size, count, inner] = sizes;
  const int64_t points = outer * count * inner;
  if (points == 0) return {"", 0};
  const std::string type = bits_type(problem.out[0].dtype), index = c_type(problem.in[1].dtype);
  return {fmt::format("  for_points(block, {}, [&](int64_t n) {{\n{}"
                      "    const int64_t at = index_within(((const {}*)in[1])[i1], {});\n    (({}*)out[0])[n] = ((const {}*)in[0])[(i0 * {} + at) * {} + i2];\n"
                      "  }});\n",
                      points, unflatten_text("n", {outer, count, inner}, 0, "    "), index, size, type, type, size, inner),
          ceil_div(points, points_of_block)};
}

std::vector<Emitted> emit_all(const Problem& problem, const Knobs& knobs) {
  const int64_t points_of_block = knobs.at("THREADS") * knobs.at("EACH"), tile = knobs.count("TILE") ? knobs.at("TILE") : 0;
  const MovementParams params = MovementParams::of(problem);
  if (params.gather) return {emit_gather(problem, *params.gather, points_of_block)};
  std::vector<Emitted> copies;
  for (const StridedCopy& copy : copies_of(problem)) {
    if (numel(copy.shape) == 0) continue;
    const CopyLoops loops = CopyLoops::of(copy);
    const bool transposes = loops.along >= 0 && copy.in >= 0 && tile > 0;
    copies.push_back(transposes ? emit_transpose(problem, copy, loops, tile) : emit_points(problem, copy, loops, points_of_block, params.fill.value_or(0)));
  }
  return copies;
}

class MovementOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kMovement; }

  SearchSpace space(const Problem& problem, const DeviceInfo&) const override {
    SearchSpace space;
    space.knobs = {{"THREADS", {64, 128, 256, 512}, 256, "threads of a block"},
                   {"EACH", {1, 2, 4, 8}, 4, "elements of a thread, THREADS apart: as many loads are in flight"}};
    if (has_transpose(problem)) space.knobs.push_back({"TILE", {0, 16, 32, 64}, 32, "edge of a transpose's tiles in shared memory; 0: read as it lies"});
    space.refuse = [](const Knobs&) { return std::string(); };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const Knobs& k = variant.knobs;
    int64_t blocks = 0, number = 0;
    std::string functions, dispatch = "static inline void run_block(const void* const* in, void* const* out, int64_t block) {\n";
    for (const Emitted& copy : emit_all(problem, k)) {
      functions += fmt::format("static inline void copy{}(const void* const* in, void* const* out, int64_t block) {{\n{}}}\n", number, copy.body);
      dispatch +=
          fmt::format("  if (block < {}) return copy{}(in, out, block{});\n", blocks + copy.blocks, number++, blocks ? fmt::format(" - {}", blocks) : "");
      blocks += copy.blocks;
    }
    return join_text(
        {cuda_opening(problem),
         cuda_sizes({{"THREADS", k.at("THREADS")}, {"EACH", k.at("EACH")}, {"TILE", k.count("TILE") && k.at("TILE") ? k.at("TILE") : 1}, {"BLOCKS", blocks}}),
         std::string(cuda_text("movement.cu")), functions, dispatch + "}\n"});
  }
};

}  // namespace

const KernelImplementation* movement_on_cuda() {
  static const MovementOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

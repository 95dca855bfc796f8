#include "export/cuda_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "export/cxx_tables.h"

namespace amdahl {
namespace {

constexpr size_t kAlignment = 256;  // of everything that has a place of its own: what a workspace is promised (prelude.h)

// The one block of the card's memory that a model has.
class CardMemory {
 public:
  size_t take(size_t bytes) {
    const size_t at = bytes_;
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  size_t bytes() const { return std::max(bytes_, kAlignment); }

 private:
  size_t bytes_ = 0;
};

// The functions that are launched, by kernel and number, and the most shared memory that one of their launches asks for.
class Functions {
 public:
  std::string launch_row(int kernel, const cuda::Launch& l, bool begins_early) {
    const auto [it, is_new] = numbers_.try_emplace({kernel, l.kernel}, all_.size());
    if (is_new) all_.push_back({kernel, l.function(), 0});
    Function& f = all_[it->second];
    f.shared_bytes = std::max(f.shared_bytes, l.shared_bytes);
    return fmt::format("{{{}, {{{}}}, {{{}}}, {}, {:d}}}", it->second, fmt::join(l.grid, ", "), fmt::join(l.block, ", "), l.shared_bytes, begins_early);
  }
  std::string rows() const {
    std::string rows;
    for (const Function& f : all_) rows += fmt::format("    {{{}, \"{}\", {}}},\n", f.kernel, f.name, f.shared_bytes);
    return rows;
  }
  size_t size() const { return all_.size(); }

 private:
  struct Function {
    int kernel;
    std::string name;
    uint32_t shared_bytes;
  };
  std::vector<Function> all_;
  std::map<std::pair<int, uint32_t>, size_t> numbers_;
};

// Numbers with the rows that they count.
struct Table {
  size_t count = 0;
  std::string rows;
  void add(const std::string& row) {
    rows += fmt::format("    {{{}}},\n", row);
    ++count;
  }
};

class TableMaker {
 public:
  TableMaker(const Program& program, const std::vector<CudaKernel>& kernels) : program_(program), kernels_(kernels), place_of_(program.buffers.size()) {
    size_t workspace = 0;
    for (const CudaKernel& k : kernels) workspace = std::max<size_t>(workspace, k.cubin.workspace_bytes);
    arena_ = memory_.take(program.arena_bytes);
    workspace_ = memory_.take(workspace);
    for (int b : program.inputs) input_room_.push_back(memory_.take(buffer(b).bytes));
    for (int b : program.outputs) output_room_.push_back(memory_.take(buffer(b).bytes));
    for (const Program::Call& call : program.calls) add_call(call);
    for (size_t o = 0; o < program.outputs.size(); ++o) add_copy(o);
  }

  std::string text() const {
    return fmt::format(
        "enum {{ FUNCTIONS = {}, CALLS = {}, UPLOADS = {}, PACKS = {}, COPIES = {}, INPUTS = {}, OUTPUTS = {}, MAX_POINTERS = {}, MAX_BOXES = {} }};\n"
        "static const size_t CARD_BYTES = {}, STAGING_BYTES = {};\n\n"
        "// A function of a kernel, and the most shared memory of a block that it is launched with.\n"
        "struct function_entry {{\n  int kernel;\n  const char* name;\n  unsigned shared_bytes;\n}};\n"
        "// `begins_early`: as tuned, its function waits itself for what was launched before it.\n"
        "struct launch_entry {{\n  int function;\n  unsigned grid[3], block[3], shared_bytes;\n  int begins_early;\n}};\n"
        "// An operand: an input or output by its number, or memory of the model at an offset.\n"
        "enum pointer_place {{ NOTHING, GIVEN_INPUT, GIVEN_OUTPUT, ON_CARD }};\n"
        "struct pointer_entry {{\n  pointer_place place;\n  size_t offset;\n}};\n"
        "// A step: the first parameter of its kernels is this row of pointers (inputs, outputs, workspace), then come tensor maps of the next `boxes` of "
        "their\n"
        "// table. It makes the next `launches` of theirs.\n"
        "struct call_entry {{\n  int launches, boxes, count;\n  pointer_entry pointers[MAX_POINTERS];\n}};\n"
        "// A matrix of 2-byte numbers, at an offset from a pointer of the call, of which kernels copy boxes.\n"
        "struct box_entry {{\n  int pointer;\n  uint64_t offset;\n  amdahl_boxes boxes;\n}};\n"
        "// Weights as they are: bytes of the file to an offset of the model's memory.\n"
        "struct upload_entry {{\n  size_t from, to, bytes;\n}};\n"
        "// Weights that a kernel wants in an order of its own: its launch reads the bytes of the file and writes to the offset.\n"
        "struct pack_entry {{\n  size_t from, to, bytes;\n  launch_entry launch;\n}};\n"
        "struct copy_entry {{\n  int output;\n  pointer_entry from;\n  size_t bytes;\n}};\n\n"
        "static const function_entry function_table[FUNCTIONS + 1] = {{\n{}}};\n"
        "static const launch_entry launch_table[] = {{\n{}    {{0, {{0, 0, 0}}, {{0, 0, 0}}, 0, 0}},\n}};\n"
        "static const call_entry call_table[CALLS + 1] = {{\n{}}};\n"
        "static const box_entry box_table[] = {{\n{}    {{0, 0, {{}}}},\n}};\n"
        "static const upload_entry upload_table[UPLOADS + 1] = {{\n{}}};\n"
        "static const pack_entry pack_table[PACKS + 1] = {{\n{}}};\n"
        "static const copy_entry copy_table[COPIES + 1] = {{\n{}}};\n"
        "static const size_t input_room[INPUTS + 1] = {{{}}};\nstatic const size_t output_room[OUTPUTS + 1] = {{{}}};\n",
        functions_.size(), calls_.count, uploads_.count, packs_.count, copies_.count, program_.inputs.size(), program_.outputs.size(), max_pointers_,
        max_boxes_, memory_.bytes(), staging_bytes_, functions_.rows(), launches_, calls_.rows, boxes_.rows, uploads_.rows, packs_.rows, copies_.rows,
        fmt::join(input_room_, ", "), fmt::join(output_room_, ", "));
  }

 private:
  const Program::Buffer& buffer(int number) const { return program_.buffers[static_cast<size_t>(number)]; }
  static size_t place_in(const std::vector<int>& list, int number) { return static_cast<size_t>(std::find(list.begin(), list.end(), number) - list.begin()); }

  // Weights are uploaded when the first step, or output, asks for them as they are.
  std::string pointer_to(int number) {
    const Program::Buffer& b = buffer(number);
    std::string& place = place_of_[static_cast<size_t>(number)];
    if (!place.empty()) return place;
    switch (b.role) {
      case Program::Role::kInput: place = fmt::format("GIVEN_INPUT, {}", place_in(program_.inputs, number)); break;
      case Program::Role::kOutput: place = fmt::format("GIVEN_OUTPUT, {}", place_in(program_.outputs, number)); break;
      case Program::Role::kTemporary: place = fmt::format("ON_CARD, {}", arena_ + static_cast<size_t>(b.arena_offset)); break;
      case Program::Role::kConstant: {
        const size_t to = memory_.take(b.bytes);
        if (b.bytes > 0) uploads_.add(fmt::format("{}, {}, {}", b.blob_offset, to, b.bytes));
        place = fmt::format("ON_CARD, {}", to);
      }
    }
    return place;
  }

  // Equal (kernel, input, buffer) share a copy, as in plan/executor.cc.
  std::string pointer_to_packed(int kernel, size_t input, int number) {
    const Program::Buffer& b = buffer(number);
    if (b.role != Program::Role::kConstant) throw Error(ExitCode::kInternal, "a kernel wants to pack an input that is not a constant");
    std::string& place = packed_[{kernel, input, number}];
    if (!place.empty()) return place;
    const cuda::Pack& pack = kernels_[static_cast<size_t>(kernel)].cubin.packs[input];
    const size_t to = memory_.take(pack.bytes);
    staging_bytes_ = std::max(staging_bytes_, b.bytes);
    packs_.add(fmt::format("{}, {}, {}, {}", b.blob_offset, to, b.bytes, functions_.launch_row(kernel, pack.launch, /*begins_early=*/false)));
    return place = fmt::format("ON_CARD, {}", to);
  }

  void add_call(const Program::Call& call) {
    const cuda::Cubin& cubin = kernels_[static_cast<size_t>(call.kernel)].cubin;
    std::vector<std::string> pointers;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const bool packs = i < cubin.packs.size() && cubin.packs[i].bytes > 0;
      pointers.push_back(packs ? pointer_to_packed(call.kernel, i, call.inputs[i]) : pointer_to(call.inputs[i]));
    }
    if (call.inputs.empty()) pointers.push_back("NOTHING, 0");  // `Operands` of prelude.h
    for (int number : call.outputs) pointers.push_back(pointer_to(number));
    pointers.push_back(fmt::format("ON_CARD, {}", workspace_));
    max_pointers_ = std::max(max_pointers_, pointers.size());
    max_boxes_ = std::max(max_boxes_, cubin.boxes.size());
    calls_.add(fmt::format("{}, {}, {}, {{{{{}}}}}", cubin.launches.size(), cubin.boxes.size(), pointers.size(), fmt::join(pointers, "}, {")));
    for (const cuda::Boxes& b : cubin.boxes)
      boxes_.add(fmt::format("{}, {}, {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}", b.input, b.offset, b.rows, b.columns, b.row_bytes, b.box_rows,
                             b.box_columns, b.width, b.height, b.step_w, b.step_h, b.first_w, b.first_h, b.last_w, b.last_h));
    for (const cuda::Launch& l : cubin.launches) launches_ += fmt::format("    {},\n", functions_.launch_row(call.kernel, l, cubin.begins_early));
  }

  // An output whose bytes no step writes to the place that is given for it: it is an input, a weight, or an output before it.
  void add_copy(size_t o) {
    const int number = program_.outputs[o];
    if (buffer(number).bytes == 0 || (buffer(number).role == Program::Role::kOutput && place_in(program_.outputs, number) == o)) return;
    copies_.add(fmt::format("{}, {{{}}}, {}", o, pointer_to(number), buffer(number).bytes));
  }

  const Program& program_;
  const std::vector<CudaKernel>& kernels_;
  CardMemory memory_;
  Functions functions_;
  size_t arena_ = 0, workspace_ = 0, staging_bytes_ = 0, max_pointers_ = 3;  // raw, packed and no workspace: what a pack is launched with
  std::vector<size_t> input_room_, output_room_;                             // where run puts the host's
  std::vector<std::string> place_of_;                                        // of buffers that were asked for
  std::map<std::tuple<int, size_t, int>, std::string> packed_;
  size_t max_boxes_ = 0;
  Table calls_, boxes_, uploads_, packs_, copies_;
  std::string launches_;
};

// "sm_90a": 9, 0, and for that capability alone.
std::string tuned_for(const std::string& architecture) {
  const auto [major, minor] = capability_of(architecture);
  return fmt::format("TUNED_MAJOR = {}, TUNED_MINOR = {}, TUNED_FOR_IT_ALONE = {}", major, minor, architecture.back() == 'a' ? 1 : 0);
}

// Arrays of bytes in src/kernel_code.S.
std::string kernel_table(const CudaKernels& all, const std::string& name) {
  std::string declarations, rows;
  for (size_t k = 0; k < all.kernels.size(); ++k) {
    const std::string tuned = fmt::format("amdahl_{}_tuned{}", name, k), portable = fmt::format("amdahl_{}_portable{}", name, k);
    declarations += fmt::format("extern \"C\" const unsigned char {}[];\n", tuned);
    if (all.not_portable.empty()) declarations += fmt::format("extern \"C\" const unsigned char {}[];\n", portable);
    rows += fmt::format("    {{{}, {}}},\n", tuned, all.not_portable.empty() ? portable : "nullptr");
  }
  return fmt::format(
      "{}struct kernel_entry {{\n  const unsigned char *tuned, *portable;  // a cubin, PTX\n}};\nstatic const kernel_entry kernel_table[KERNELS + 1] = "
      "{{\n{}}};\n",
      declarations, rows);
}

}  // namespace

std::string cuda_model_tables(const ExportRequest& request, const Program& program, const CudaKernels& kernels, const std::string& name,
                              uint64_t weights_hash) {
  std::vector<std::string> files;
  for (const CudaKernel& k : kernels.kernels) files.push_back(k.file);
  return fmt::format(
      "// Generated.\n#pragma once\n#include <stddef.h>\n#include <stdint.h>\n\n#include \"{}.h\"\n\n"
      "enum {{ KERNELS = {}, {}, HAS_PORTABLE = {} }};\n"
      "static const size_t WEIGHT_BYTES = {};\nstatic const uint64_t WEIGHT_HASH = UINT64_C({});\n\n{}\n{}\n{}\n{}",
      name, kernels.kernels.size(), tuned_for(kernels.architecture), kernels.not_portable.empty() ? 1 : 0, program.blob_bytes, weights_hash,
      kernel_table(kernels, name), TableMaker(program, kernels.kernels).text(), tensor_tables(request.graph, name), step_table(request, program, files, name));
}

}  // namespace amdahl

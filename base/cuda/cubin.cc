#include "base/cuda/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include "base/elf.h"
#include "base/error.h"
#include "base/hash.h"

namespace amdahl::cuda {
namespace {

constexpr uint16_t kCuda = 190;  // EM_CUDA
constexpr size_t kMostLaunches = 64;
constexpr uint64_t kMostBytes = uint64_t{16} << 30;  // of a workspace or a packed copy: the rest of the model must lie beside it

constexpr size_t kMostBoxes = 8;
constexpr uint64_t kMostOfBox = 256, kMostOfMatrix = uint64_t{1} << 32;  // what a tensor map can say
constexpr int32_t kFirstCorner = -128, kLastCorner = 127;                // of windows in two dimensions
constexpr uint32_t kMostOfStep = 8;

static_assert(sizeof(Launch) == 32 && sizeof(Pack) == 40 && sizeof(Boxes) == 80, "as in prelude.h");

[[noreturn]] void refuse(const std::string& why) { throw Error(ExitCode::kInternal, "the kernel's cubin " + why); }

std::unique_ptr<const ElfFile> open(const std::string& path) {
  std::unique_ptr<const ElfFile> file = ElfFile::read(path);
  if (!file || file->machine() != kCuda) refuse("is no code of an NVIDIA card");
  return file;
}

// The bytes of a table. Its symbol counts from the beginning of the section of constants.
std::optional<std::string_view> table(const ElfFile& file, std::string_view name) {
  const ElfFile::Section* constants = nullptr;
  for (const ElfFile::Section& s : file.sections())
    if (s.name == ".nv.constant3") constants = &s;
  if (!constants) return std::nullopt;
  for (const ElfFile::Symbol& s : file.all_symbols()) {
    if (s.name != name || s.type != STT_OBJECT) continue;
    if (s.address > constants->contents.size() || s.bytes > constants->contents.size() - s.address) refuse(fmt::format("has a damaged table {}", name));
    return constants->contents.substr(s.address, s.bytes);
  }
  return std::nullopt;
}

template <typename Row>
std::vector<Row> rows(const ElfFile& file, std::string_view name) {
  const std::optional<std::string_view> bytes = table(file, name);
  std::vector<Row> all(bytes ? bytes->size() / sizeof(Row) : 0);
  if (!all.empty()) std::memcpy(static_cast<void*>(all.data()), bytes->data(), all.size() * sizeof(Row));
  return all;
}

// The digits of 2/pi and the coefficients that NVIDIA's own sin and cos read: in memory that could be written, though their functions do not.
uint64_t bytes_of_library_tables(const ElfFile& file) {
  uint64_t bytes = 0;
  for (const ElfFile::Symbol& s : file.all_symbols())
    for (const auto& [name, size] : {std::pair{"__cudart_i2opi_f", 24}, {"__cudart_i2opi_d", 144}, {"__cudart_sin_cos_coeffs", 128}})
      if (s.name == name && s.bytes == static_cast<uint64_t>(size)) bytes += s.bytes;
  return bytes;
}

void require_no_variables(const ElfFile& file) {
  const uint64_t of_library = bytes_of_library_tables(file) + 64;  // and what aligns them
  for (const ElfFile::Section& s : file.sections())
    if ((s.name == ".nv.global" || s.name == ".bss" || (s.name == ".nv.global.init" && (of_library == 64 || s.size > of_library))) && s.size > 0)
      refuse(fmt::format("keeps {} bytes of variables between calls: numbers that are known when it is compiled are enumerators, others are operands", s.size));
}

void require_affordable(uint64_t bytes, const char* what) {
  if (bytes > kMostBytes) refuse(fmt::format("wants {} bytes as {}, and {} GiB are the most", bytes, what, kMostBytes >> 30));
}

void require_launchable(const Launch& l) {
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    if (l.grid[d] == 0 || l.block[d] == 0) refuse("has an empty launch");
    threads *= l.block[d];
  }
  if (threads > 1024) refuse(fmt::format("has a launch of {} threads a block, and 1024 are the most", threads));
}

void require_mappable(const Boxes& b) {
  const bool fits = b.rows > 0 && b.columns > 0 && b.rows < kMostOfMatrix && b.columns < kMostOfMatrix && b.row_bytes % 16 == 0 && b.offset % 16 == 0 &&
                    b.row_bytes >= 2 * b.columns && b.row_bytes < kMostBytes && b.box_rows > 0 && b.box_rows <= kMostOfBox && b.box_columns == 64;
  if (!fits) refuse("wants boxes that no tensor map describes: lines of 64 numbers, rows at multiples of 16 bytes, at most 256 of them");
  if (b.width == 0) return;
  const uint64_t pixels = uint64_t{b.width} * b.height;
  const auto is_corner = [](int32_t at) { return at >= kFirstCorner && at <= kLastCorner; };
  const auto is_step = [](uint32_t step) { return step >= 1 && step <= kMostOfStep; };
  const bool sees = pixels > 0 && b.rows % pixels == 0 && is_step(b.step_w) && is_step(b.step_h) && is_corner(b.first_w) && is_corner(b.first_h) &&
                    is_corner(b.last_w) && is_corner(b.last_h);
  if (!sees) refuse("wants boxes of windows that no tensor map describes: whole images, steps of 1 to 8, corners within 128 of the image");
}

}  // namespace

std::string Launch::function() const { return fmt::format("amdahl_kernel_{}", kernel); }

Cubin read_cubin(const std::string& path) {
  const std::unique_ptr<const ElfFile> file = open(path);
  require_no_variables(*file);
  Cubin cubin;
  cubin.launches = rows<Launch>(*file, "amdahl_launches");
  if (cubin.launches.empty() || cubin.launches.size() > kMostLaunches)
    refuse(fmt::format("has {} launches: 1 to {} are possible", cubin.launches.size(), kMostLaunches));
  cubin.packs = rows<Pack>(*file, "amdahl_packs");
  for (const Launch& l : cubin.launches) require_launchable(l);
  for (const Pack& p : cubin.packs) {
    if (p.bytes > 0) require_launchable(p.launch);
    require_affordable(p.bytes, "a packed copy");
  }
  cubin.boxes = rows<Boxes>(*file, "amdahl_boxes");
  if (cubin.boxes.size() > kMostBoxes) refuse(fmt::format("has boxes of {} matrices, and {} are the most", cubin.boxes.size(), kMostBoxes));
  for (const Boxes& b : cubin.boxes) require_mappable(b);
  const std::vector<uint64_t> workspace = rows<uint64_t>(*file, "amdahl_workspace_bytes");
  if (workspace.size() != 1) refuse("does not say how much workspace it needs: amdahl_workspace_bytes");
  cubin.workspace_bytes = workspace[0];
  require_affordable(cubin.workspace_bytes, "workspace");
  cubin.begins_early = rows<uint32_t>(*file, "amdahl_begins_early") == std::vector<uint32_t>{1};
  std::ifstream in(path, std::ios::binary);
  cubin.image.assign(std::istreambuf_iterator<char>(in), {});
  return cubin;
}

std::string cubin_code_hash(const std::string& path) {
  const std::unique_ptr<const ElfFile> file = ElfFile::read(path);
  if (!file || file->machine() != kCuda) return "";
  std::string all;
  for (const ElfFile::Section& s : file->sections())
    if (s.name.starts_with(".text.") || s.name.starts_with(".nv.constant"))
      all += fmt::format("{} {}\n", s.name, hash_hex(s.contents.data(), s.contents.size()));
  return hash_hex(all);
}

}  // namespace amdahl::cuda

// Programs as they travel to a worker, and as they lie beside compiled kernels (export/plan_library).

#include "plan/program.h"

namespace amdahl {

void to_json(Json& j, const Program& p) {
  j = Json{{"libraries", p.libraries}, {"inputs", p.inputs},           {"outputs", p.outputs},
           {"threads", p.threads},     {"arena_bytes", p.arena_bytes}, {"blob_bytes", p.blob_bytes}};
  for (const Program::Buffer& b : p.buffers)
    j["buffers"].push_back({{"name", b.name},
                            {"dtype", name_of(b.dtype)},
                            {"shape", b.shape},
                            {"format", b.format},
                            {"role", static_cast<int>(b.role)},
                            {"bytes", b.bytes},
                            {"arena", b.arena_offset},
                            {"blob", b.blob_offset},
                            {"mean", b.mean},
                            {"deviation", b.deviation},
                            {"source", b.source}});
  j["calls"] = Json::array();
  for (const Program::Call& c : p.calls) j["calls"].push_back({{"kernel", c.kernel}, {"step", c.step}, {"in", c.inputs}, {"out", c.outputs}});
}

void from_json(const Json& j, Program& p) {
  p.libraries = j.at("libraries").get<std::vector<std::string>>();
  p.inputs = j.at("inputs").get<std::vector<int>>();
  p.outputs = j.at("outputs").get<std::vector<int>>();
  p.threads = j.at("threads");
  p.arena_bytes = j.at("arena_bytes");
  p.blob_bytes = j.at("blob_bytes");
  p.buffers.clear();
  p.calls.clear();
  for (const Json& e : j.at("buffers")) {
    Program::Buffer b;
    b.name = e.at("name");
    b.dtype = dtype_from_name(e.at("dtype").get<std::string>());
    b.shape = e.at("shape").get<Shape>();
    b.format = e.at("format");
    b.role = static_cast<Program::Role>(e.at("role").get<int>());
    b.bytes = e.at("bytes");
    b.arena_offset = e.at("arena");
    b.blob_offset = e.at("blob");
    b.mean = e.at("mean");
    b.deviation = e.at("deviation");
    b.source = e.at("source");
    p.buffers.push_back(std::move(b));
  }
  for (const Json& e : j.at("calls"))
    p.calls.push_back({e.at("kernel"), e.at("step"), e.at("in").get<std::vector<int>>(), e.at("out").get<std::vector<int>>()});
}

}  // namespace amdahl

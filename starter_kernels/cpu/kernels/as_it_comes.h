// For kernels that pack no input and need no scratch.
extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

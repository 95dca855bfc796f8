// What a text asks of the emulated card that runs it. Read by both sides: before a text, and by called_by_kernels.cc.

struct Dimensions {
  unsigned x, y, z;
};

extern "C" {
int emulated_barrier(int said);  // whether a thread of the block said so
// Waits for all lanes of the warp in the mask. What lane l has shown is 64 l bytes on, until the next call.
const void* emulated_exchange(unsigned mask, const void* shown, unsigned long bytes);
void emulated_warp_barrier(void);  // of all lanes
unsigned emulated_lane(void);
void emulated_fault(const char* why);                                 // does not return
void emulated_atomic(const void* address, unsigned long bytes);       // before it
void emulated_copy(void* to, const void* from, int bytes, int real);  // in the background
void emulated_end_group(void);
void emulated_wait_for_groups(int newest);
void* emulated_dynamic_shared(void);
}

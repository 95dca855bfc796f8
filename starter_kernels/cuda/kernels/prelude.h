// What every kernel's text begins with: types, and what the program that launches a kernel knows of it.
//
// A text is compiled by NVRTC without any header: the toolkit's take longer to read than most kernels to compile, and need not be installed.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

// What is generated for every backend says `static inline`: here that is a function of the device. (With -default-device every constexpr number would
// become a variable in the device's memory.)
#define inline __device__ __inline__

#define INT64_MAX 9223372036854775807ll
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_nanf(tag) __int_as_float(0x7fc00000)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000ll)
#define __builtin_nan(tag) __longlong_as_double(0x7ff8000000000000ll)

// The only parameter of every kernel: the call's operands.
struct Operands {
  const void* in[INPUTS > 0 ? INPUTS : 1];
  void* out[OUTPUTS];
  void* workspace;  // 64-byte aligned; holds anything before a call
};

// One launch. A call of the kernel makes those of amdahl_launches in their order, each after the one before has ended.
struct Launch {
  uint32_t kernel;                       // the function amdahl_kernel_<kernel>
  uint32_t grid_x, grid_y, grid_z;       // blocks
  uint32_t block_x, block_y, block_z;    // threads
  uint32_t shared_bytes;                 // dynamic shared memory of a block
};
// How a constant input is rearranged, once, at load: in[i] of a call is then the packed copy. The only parameter of such a kernel is PackOperands.
struct Pack {
  uint64_t bytes;  // of the packed copy; 0: the input is used as it comes
  Launch launch;
};
struct PackOperands {
  const void* in;
  void* out;
};
// A matrix of 2-byte numbers that one thread's copies bring to shared memory in boxes: `rows` lines of `columns` adjacent numbers, `row_bytes` apart, in
// operand `input`, of which the first `offset` bytes are something else. A kernel that uses them has a TensorMap (hopper.h) a row of the table behind Operands.
//
// Where the rows are pixels of images of `width` x `height`, a box takes those that windows see with one tap: of a row of windows the first begins at pixel
// first_w, the last at width - 1 + last_w, and one every step_w pixels; of a column likewise.
struct Boxes {
  uint64_t input, offset, rows, columns, row_bytes;
  uint32_t box_rows, box_columns;
  uint32_t width, height, step_w, step_h;
  int32_t first_w, first_h, last_w, last_h;
};
// Tables that the launching program reads from the compiled file, without running anything of it: amdahl_launches, amdahl_workspace_bytes and, where
// there is need, amdahl_packs, one row an input, and amdahl_boxes.
#define TABLE extern "C" __constant__ const

// Every kernel calls this before it reads or writes what another kernel touches: from compute capability 9.0 on it may begin while those before it still
// run (amdahl_begins_early; packs do not). Constants may be read before. What follows may begin from here on and no earlier: kernels that pile up take each
// other's places.
#if __CUDA_ARCH__ >= 900
TABLE uint32_t amdahl_begins_early = 1;
static inline void wait_for_producers() { asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;" ::: "memory"); }
#else
static inline void wait_for_producers() {}
#endif

static inline constexpr int64_t ceil_div(int64_t n, int64_t d) { return (n + d - 1) / d; }

#include "base/interrupt.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  amdahl::install_interrupt_handler();
  return amdahl::run_amdahl({argv + 1, argv + argc});
}

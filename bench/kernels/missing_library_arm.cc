// Stands in for the arm of a library that was not there when the bench was built: AMDAHL_PACKAGE is what to install.

#include <iostream>

int main() {
  std::cerr << AMDAHL_PACKAGE " is not installed" << std::endl;
  return 1;
}

# Turns every file of starter_kernels/{cpu,cuda} into a row of embedded_sources() (starter_kernels/embedded_sources.h).
# The text is split into pieces because a string literal may be limited to 64 KiB by a compiler.
file(GLOB KERNEL_TEXTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/starter_kernels/cpu/* ${CMAKE_SOURCE_DIR}/starter_kernels/cuda/*)
set(EMBEDDED_KERNEL_SOURCES ${CMAKE_BINARY_DIR}/embedded_sources.cc)
add_custom_command(
  OUTPUT ${EMBEDDED_KERNEL_SOURCES}
  COMMAND ${CMAKE_COMMAND} -DOUT=${EMBEDDED_KERNEL_SOURCES} -DROOT=${CMAKE_SOURCE_DIR}/starter_kernels
          "-DFILES=${KERNEL_TEXTS}" -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
  DEPENDS ${KERNEL_TEXTS} ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
  VERBATIM)

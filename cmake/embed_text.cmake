# embed_text(VARIABLE FUNCTION ROOT PATTERN…): sets VARIABLE to a generated .cc that defines
# `const std::vector<EmbeddedText>& FUNCTION()` with every file below ROOT that matches a pattern.
function(embed_text variable function root)
  set(patterns ${ARGN})
  list(TRANSFORM patterns PREPEND ${root}/)
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  set(out ${CMAKE_BINARY_DIR}/${function}.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${root} -DFUNCTION=${function} "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    VERBATIM)
  set(${variable} ${out} PARENT_SCOPE)
endfunction()

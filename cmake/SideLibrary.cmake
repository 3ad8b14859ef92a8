# add_side_library(NAME SOURCE...): liboneflow_<name>.so, a library over the public headers that liboneflow loads from its own
# folder when it is first needed (runtime/capi/side_library.h). It is part of every package. The target
# oneflow_side_libraries builds all of them, and install_side_libraries(ARGUMENT...) installs them.

add_custom_target(oneflow_side_libraries)

function(add_side_library name)
  set(target oneflow_${name})
  add_library(${target} MODULE ${ARGN})
  target_compile_options(${target} PRIVATE ${small_code})
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/..")
  target_link_libraries(${target} PRIVATE oneflow)
  precompile_standard_headers(${target} <oneflow/oneflow.hpp>)
  target_link_options(${target} PRIVATE -Wl,--no-undefined)
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  add_dependencies(oneflow_side_libraries ${target})
  set_property(GLOBAL APPEND PROPERTY oneflow_side_libraries ${target})
endfunction()

function(install_side_libraries)
  get_property(targets GLOBAL PROPERTY oneflow_side_libraries)
  if(targets)
    install(TARGETS ${targets} LIBRARY ${ARGN})
  endif()
endfunction()

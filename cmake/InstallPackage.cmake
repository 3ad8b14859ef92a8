# Installs the library, the headers, a CMake package (oneflow::oneflow) and a pkg-config file.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/oneflow")

install(TARGETS oneflow EXPORT oneflow-targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# Where the library looks for them.
if(TARGET oneflow_onnx)
  install(TARGETS oneflow_onnx LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(TARGETS oneflow-probe RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(folder IN LISTS ONEFLOW_INCLUDE_DIRS)
  install(DIRECTORY "${folder}/oneflow" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h"
          PATTERN "*.hpp")
endforeach()

install(EXPORT oneflow-targets NAMESPACE oneflow:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/oneflow-config.cmake.in"
                              "${CMAKE_BINARY_DIR}/oneflow-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/oneflow-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/oneflow-config.cmake" "${CMAKE_BINARY_DIR}/oneflow-config-version.cmake"
        DESTINATION "${package_dir}")

# A relative path, so that the installed tree can be moved.
file(RELATIVE_PATH INCLUDE_FROM_LIB "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
get_target_property(ONEFLOW_LINKS oneflow INTERFACE_LINK_LIBRARIES)
if(ONEFLOW_STATIC)
  list(JOIN ONEFLOW_LINKS " " ONEFLOW_LINKS)
else()
  set(ONEFLOW_LINKS "")
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/oneflow.pc.in" "${CMAKE_BINARY_DIR}/oneflow.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/oneflow.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

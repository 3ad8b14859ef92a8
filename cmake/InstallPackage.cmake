# Installs the library, the headers, a CMake package (oneflow::oneflow) and a pkg-config file.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/oneflow")

install(TARGETS oneflow EXPORT oneflow-targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# Where the library looks for them.
if(NOT ONEFLOW_STATIC)
  install_side_libraries(DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(TARGETS oneflow-probe RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS oneflow-run RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
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

# What packages for other languages contain of the library.
if(NOT ONEFLOW_STATIC)
  install(TARGETS oneflow oneflow-probe oneflow-run
          LIBRARY DESTINATION runtime COMPONENT payload NAMELINK_SKIP EXCLUDE_FROM_ALL
          RUNTIME DESTINATION runtime COMPONENT payload EXCLUDE_FROM_ALL)
  install_headers(include payload)
  install_side_libraries(DESTINATION runtime COMPONENT payload EXCLUDE_FROM_ALL)
  if(SLEEF_FILE)
    install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${SLEEF_FILE}" DESTINATION runtime COMPONENT payload EXCLUDE_FROM_ALL)
  endif()
endif()

# A relative path, so that the installed tree can be moved.
file(RELATIVE_PATH INCLUDE_FROM_LIB "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
set(ONEFLOW_LIBRARY "-loneflow")
if(ONEFLOW_STATIC)
  get_target_property(ONEFLOW_LINKS oneflow INTERFACE_LINK_LIBRARIES)
  list(JOIN ONEFLOW_LINKS " " ONEFLOW_LINKS)
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/oneflow.pc.in" "${CMAKE_BINARY_DIR}/oneflow.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/oneflow.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# The static library beside the shared one: oneflow::static in CMake, oneflow-static for pkg-config.
if(TARGET oneflow_static)
  set(ONEFLOW_LIBRARY "-l:liboneflow.a")
  get_target_property(ONEFLOW_LINKS oneflow_static INTERFACE_LINK_LIBRARIES)
  list(JOIN ONEFLOW_LINKS " " ONEFLOW_LINKS)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/oneflow.pc.in" "${CMAKE_BINARY_DIR}/oneflow-static.pc" @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/oneflow-static.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT static
          EXCLUDE_FROM_ALL)
  install(TARGETS oneflow_static EXPORT oneflow-static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT static
          EXCLUDE_FROM_ALL)
  set_target_properties(oneflow_static PROPERTIES EXPORT_NAME static)
  target_include_directories(oneflow_static INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  install(EXPORT oneflow-static NAMESPACE oneflow:: DESTINATION "${package_dir}" COMPONENT static EXCLUDE_FROM_ALL)
endif()

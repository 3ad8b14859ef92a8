# Installs the library, the headers, a CMake package (commnet::commnet) and a pkg-config file.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/commnet")

install(TARGETS commnet EXPORT commnet-targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/commnet DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h"
        PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/licenses/commnet")

install(EXPORT commnet-targets NAMESPACE commnet:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/commnetConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/commnetConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/commnetConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/commnetConfig.cmake" "${PROJECT_BINARY_DIR}/commnetConfigVersion.cmake"
        DESTINATION "${package_dir}")

# A relative path, so that the installed tree can be moved.
file(RELATIVE_PATH INCLUDE_FROM_LIB "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/commnet.pc.in" "${PROJECT_BINARY_DIR}/commnet.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/commnet.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

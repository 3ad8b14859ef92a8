# The library that packages of languages carry: the same objects with libsodium in them, so that a package needs nothing
# else. Without the archive of libsodium, it is found on the machine, as by the library that is installed.

find_library(SODIUM_ARCHIVE libsodium.a HINTS ${sodium_LIBRARY_DIRS} ${sodium_LIBDIR})
add_library(commnet_packaged SHARED $<TARGET_OBJECTS:commnet>)
target_link_libraries(commnet_packaged PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
if(SODIUM_ARCHIVE)
  target_link_libraries(commnet_packaged PRIVATE "${SODIUM_ARCHIVE}")
  target_link_options(commnet_packaged PRIVATE LINKER:--exclude-libs,ALL)
else()
  message(STATUS "libsodium.a was not found: packages need libsodium where they are installed")
  target_link_libraries(commnet_packaged PRIVATE PkgConfig::sodium)
endif()
set_target_properties(commnet_packaged PROPERTIES
  OUTPUT_NAME commnet VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/packaged")

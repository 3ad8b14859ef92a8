# Tests of the installation and of the documentation.

add_test(NAME commnet_install
         COMMAND "${CMAKE_COMMAND}" "-DBUILD=${PROJECT_BINARY_DIR}" "-DSCRATCH=${PROJECT_BINARY_DIR}/install-test"
                 "-DLIBDIR=${CMAKE_INSTALL_LIBDIR}" "-DSHARED=${BUILD_SHARED_LIBS}" "-DC_COMPILER=${CMAKE_C_COMPILER}"
                 "-DCXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}"
                 -P "${PROJECT_SOURCE_DIR}/cmake/install_test.cmake")
set_tests_properties(commnet_install PROPERTIES TIMEOUT 120)
add_test(NAME commnet_within_a_project
         COMMAND "${CMAKE_COMMAND}" -S "${PROJECT_SOURCE_DIR}/cmake/parent" -B "${PROJECT_BINARY_DIR}/parent"
                 "-DCOMMNET=${PROJECT_SOURCE_DIR}" "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}"
                 "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME commnet_reference COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/reference.py" --check)
  add_test(NAME commnet_snippets COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/snippets.py" --check)
  add_test(NAME commnet_guarantees
           COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/guarantees.py" $<TARGET_FILE:commnet_tests>)
endif()

# cmake -DFOLDER=runtime -DVERSION=... -DFILE=... -P LibraryFingerprint.cmake: writes a header with the fingerprint of the
# headers that libraries of operators are compiled from, as codegen/library/fingerprint.py computes it: the version, and a
# hash of the paths and contents of all headers of the runtime that are not generated.

cmake_policy(VERSION 3.22)
file(GLOB_RECURSE headers RELATIVE "${FOLDER}" "${FOLDER}/*.h" "${FOLDER}/*.hpp")
list(FILTER headers EXCLUDE REGEX "(^|/)(generated|tests)/")
list(SORT headers COMPARE STRING CASE SENSITIVE)
set(lines "")
foreach(header IN LISTS headers)
  file(SHA256 "${FOLDER}/${header}" hash)
  string(APPEND lines "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${lines}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${FILE}" CONTENT
  "inline constexpr char kLibraryFingerprint[] = \"@VERSION@ (@hash@)\";\n" @ONLY)

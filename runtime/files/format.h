// The file formats, which the end of a path selects.
#ifndef ONEFLOW_FILES_FORMAT_H_
#define ONEFLOW_FILES_FORMAT_H_

#include <string>

#include "files/contents.h"
#include "files/document.h"
#include "files/output_file.h"

namespace oneflow::files {

struct Format {
  const char* extension;
  Contents (*open)(Ref<const SourceFile>);
  void (*save)(OutputFile&, const Document&);  // null if the format is only read
  bool compresses;                             // whether it can compress
};

// Returns the format with the longest extension that a path ends in, in letters of any case. Throws InvalidArgument
// with a list of all if there is none.
const Format& format_of(const std::string& path);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_FORMAT_H_

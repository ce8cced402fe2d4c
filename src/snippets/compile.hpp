// From the text of a snippet to machine code, once for each text.
#pragma once

#include <string>

#include "snippets/source.hpp"

namespace sheaf::snippets {

/// Machine code of a GPU.
struct GpuCode {
  std::string kernel;  ///< the name of the function in the code
  std::string code;
};

/// By NVRTC, for an architecture such as "sm_90". NVRTC is opened at the first call and kept open; if it is missing an
/// Error states what to install.
GpuCode compile_for_gpu(const SnippetSource& source, const std::string& architecture);

/// A shared object with machine code of the CPU.
struct HostCode {
  std::string path;
  bool temporary = false;  ///< to be removed once it is loaded
};

/// By the system's C++ compiler.
HostCode compile_for_host(const SnippetSource& source);

/// The name of a text's file in a cache: a hash of the text, of what compiles it and of our version.
std::string cache_name(const std::string& text, const std::string& compiler);

/// "FOLDER/NAME"; creates the folder. Empty if no folder is given. A folder that can't be written is an Error.
std::string cache_path(const std::string& folder, const std::string& name);

}  // namespace sheaf::snippets

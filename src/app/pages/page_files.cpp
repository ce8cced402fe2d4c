#include "app/pages/page_files.hpp"

#include <array>
#include <span>
#include <utility>

// Read-only data of the program; the assembler includes the files.
asm(".pushsection .rodata\n"
    ".include \"" SHEAF_PAGE_BYTES
    "\"\n"
    ".popsection\n");

// The hash makes this source another one for a cache of compilations whenever the bytes are others.
#define SHEAF_PAGE(number, name, hash)                                      \
  static_assert(sizeof(hash) > 1);                                          \
  extern "C" const char sheaf_page_##number[], sheaf_page_##number##_end[]; \
  extern "C" const char sheaf_packed_##number[], sheaf_packed_##number##_end[];
#include "page_rows.inc"
#undef SHEAF_PAGE

namespace sheaf::app {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

const PageFile* find_page_file(std::string_view name) {
#define SHEAF_PAGE(number, file_name, hash)                                    \
  PageFile{file_name, between(sheaf_page_##number, sheaf_page_##number##_end), \
           between(sheaf_packed_##number, sheaf_packed_##number##_end)},
  static const PageFile files[] = {
#include "page_rows.inc"
  };
#undef SHEAF_PAGE
  for (const auto& file : files)
    if (file.name == name) return &file;
  return nullptr;
}

std::string_view content_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> types{
      {{".html", "text/html; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".svg", "image/svg+xml"},
       {".png", "image/png"},
       {".ico", "image/x-icon"},
       {".json", "application/json"},
       {".woff2", "font/woff2"},
       {".webmanifest", "application/manifest+json"},
       {".wasm", "application/wasm"},
       {".csv", "text/csv; charset=utf-8"},
       {".txt", "text/plain; charset=utf-8"}}};
  for (const auto& [ending, type] : types)
    if (name.ends_with(ending)) return type;
  return "application/octet-stream";
}

}  // namespace sheaf::app

// The text around a snippet, for each of the two compilers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/solvers/snippets.hpp>

namespace sheaf {

/// Both texts of one snippet. Lines of the user's own texts are numbered from 1 in files of their names ("snippet",
/// "preamble", "map" ...), so that compilers name these in messages.
struct SnippetSource {
  std::string cuda;
  std::string host;
  std::string kernel;                                       ///< on a GPU the function to call, as it is written
  std::vector<std::pair<std::string, std::string>> quoted;  ///< names and texts of the user, for compilers to quote
  std::string cache_folder;                                 ///< empty: none
};

namespace snippets {

SnippetSource elementwise_source(const std::vector<SnippetParameter>& inputs,
                                 const std::vector<SnippetParameter>& outputs, std::string_view body,
                                 const SnippetOptions& options);
SnippetSource reduce_source(const std::vector<SnippetParameter>& inputs, std::string_view map, std::string_view combine,
                            std::string_view identity, ElementType type, const SnippetOptions& options);
SnippetSource kernel_source(const std::vector<SnippetParameter>& parameters, std::string_view code,
                            std::string_view name, const SnippetOptions& options);

}  // namespace snippets
}  // namespace sheaf

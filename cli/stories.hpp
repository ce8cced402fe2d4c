// The scripts of worked examples, made from examples/stories by cmake/stories.cmake.
#pragma once

#include <span>
#include <string_view>

namespace sheaf::cli {

struct StoryFile {
  std::string_view story, name, text;
};

std::span<const StoryFile> story_files();

}  // namespace sheaf::cli

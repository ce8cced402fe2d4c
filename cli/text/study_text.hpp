// How a study of elastic nets is told in words.
#pragma once

#include <string>

#include <sheaf/io.hpp>
#include <sheaf/study.hpp>

namespace sheaf::cli {

/// `kind`: the name of the model that was asked for; `reading`: how the table was read.
std::string study_text(const StudyResult& result, std::string_view kind, const ReadOptions& reading);

}  // namespace sheaf::cli

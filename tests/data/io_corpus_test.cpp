// The fuzzers' corpus and all malformed files, once each, under whatever compiler and sanitizer the tests are built
// with.
#include <gtest/gtest.h>

#include <filesystem>

#include "data/bytes/text_source.hpp"
#include "fuzz/cuts_check.hpp"
#include "fuzz/reader_check.hpp"

namespace sheaf {
namespace io_corpus_test {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(SHEAF_TESTS_DIR) + folder))
    paths.push_back(entry.path().string());
  return paths;
}

// Every input is given to every reader: what is text for one is garbage for another. The checks abort.
TEST(Corpus, BreaksNoPromise) {
  int inputs = 0;
  for (const char* folder :
       {"/invalid", "/fuzz/corpus/libsvm", "/fuzz/corpus/csv", "/fuzz/corpus/arff", "/fuzz/corpus/compressed"})
    for (const std::string& path : files_in(folder)) {
      const FileBytes file(path);
      for (const char* format : {"libsvm", "csv", "arff"}) fuzz::check_format(format, file.view());
      fuzz::check_decompression(file.view());
      ++inputs;
    }
  EXPECT_GT(inputs, 100);
}

// Cutting a good input short at every byte gives a table or an Error.
TEST(Corpus, CutShortAnywhereBreaksNoPromise) {
  for (const std::string format : {"libsvm", "csv", "arff"})
    for (const std::string& path : files_in("/fuzz/corpus/" + format)) {
      const FileBytes file(path);
      for (std::size_t size = 0; size < file.view().size(); ++size)
        fuzz::check_format(format.c_str(), file.view().substr(0, size));
    }
  for (const std::string& path : files_in("/fuzz/corpus/compressed")) {
    const FileBytes file(path);
    for (std::size_t size = 0; size < file.view().size(); ++size)
      fuzz::check_decompression(file.view().substr(0, size));
  }
}

TEST(Corpus, CutsAndTheirBeginningsKeepThePromises) {
  for (const std::string& path : files_in("/fuzz/corpus/cuts")) {
    const FileBytes file(path);
    for (std::size_t size = 0; size <= file.view().size(); ++size) fuzz::check_cuts(file.view().substr(0, size));
  }
}

}  // namespace io_corpus_test
}  // namespace sheaf

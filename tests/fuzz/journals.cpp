// Journals from which a search and a run of rescoring resume. Lines get the checksum that makes a record of them, so
// that the fuzzer need not find it; one that begins with ! stays as it is.
#include <sheaf/search.hpp>

#include "core/hash/sha256.hpp"
#include "fuzz/reader_check.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/targets.hpp"
#include "rescore/training/checkpoint.hpp"
#include "search/journal/journal.hpp"
#include "search/journal/result_folder.hpp"

namespace sheaf::fuzz {
namespace {

std::string with_checksums(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    const auto line = lines.substr(0, end);
    if (line.starts_with('!'))
      text += line.substr(1);
    else
      text += sha256(line).substr(0, 16) + " " + std::string(line);
    if (end == lines.size()) return text;
    text += '\n';
    lines.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

void check_journal(std::string_view input) {
  const auto path = Scratch::file("journal.txt", with_checksums(input));
  try {
    engine::SearchJournal journal(path);
    if (!journal.is_journal()) return;
    journal.read();
    if (journal.empty()) journal.begin("this search");
    journal.agree({1, {{1, 1}}});
    for (std::int32_t batch = 0; batch < 4; ++batch)
      if (const auto models = journal.recall(batch)) journal.keep(batch, *models);
  } catch (const Error&) {
    return;
  }
  engine::SearchJournal(path).read();  // what was kept is read again
}

void check_settings(std::string_view input) {
  const auto folder = Scratch::folder() + "/search";
  std::filesystem::create_directories(folder);
  Scratch::file("search/settings.json", input);
  Scratch::file("search/journal.txt", "");
  try {
    const engine::ResultFolder kept(folder, Existing::resume, {"results.json"});
    kept.check(true);
    if (const auto then = kept.settings())
      kept.compare(*then,
                   {{"sheaf", "0.1.0"}, {"journal", engine::search_journal.version}, {"options", {{"folds", 5}}}},
                   {{"options", {{"seed", 0}}}});
  } catch (const Error&) {
  }
}

void check_checkpoint(std::string_view input) {
  const auto path = Scratch::file("checkpoint.txt", with_checksums(input));
  const rescore::CheckpointShape shape{7, 3, 4, 3};
  try {
    rescore::CheckpointFile file(path, true);
    file.begin("this run");
    if (const auto found = file.read(shape)) {
      expect(found->iterations.size() <= shape.iterations, "iterations are as many as were asked for");
      expect(found->svm_weights.size() == shape.svms && found->svm_weights[0].size() == shape.weights, "weights fit");
      file.write(*found);
    }
    file.end();
  } catch (const Error&) {
  }
}

}  // namespace sheaf::fuzz

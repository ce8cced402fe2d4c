#include <array>
#include <filesystem>
#include <memory>
#include <variant>

#include <fmt/format.h>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>

#include "command.hpp"
#include "commands/planted.hpp"
#include "common.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "stories.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

namespace fs = std::filesystem;

/// A generated dataset of a story, and if `truth` is given a file that names the planted features.
struct StoryData {
  std::string_view file, truth;
  std::uint64_t seed = 0;
  std::variant<GenerateOptions, PsmOptions> options = {};
};

struct Story {
  std::string_view name, about;
  std::vector<StoryData> data;
};

std::span<const Story> stories() {
  using Table = GenerateOptions;
  static const std::vector<Story> rows{
      {"microbes",
       "sparse counts: selection inside and outside the folds, shares, stability",
       {{"microbes.biom", "planted.csv", 7,
         Table{.kind = "microbes", .rows = 200, .features = 3000, .informative = 30}}}},
      {"genes",
       "far more genes than samples: elastic nets, nested validation, shuffled labels",
       {{"genes.csv.gz", "planted.csv", 3, Table{.kind = "genes", .rows = 80, .features = 3000, .effect = 0.35}}}},
      {"text",
       "documents of 20 topics: linear models, top-5 accuracy, selected words",
       {{"documents.svm", "", 3,
         Table{.kind = "text", .rows = 3000, .features = 5000, .nonzeros = 150'000, .classes = 20}}}},
      {"spectra",
       "a proteomics run: peptide-spectrum matches rescored as Percolator does",
       {{"run.pin.gz", "", 7, PsmOptions{.spectra = 10'000}}}},
      {"survival",
       "times of death of 200 patients and 1,000 genes: Cox models with an elastic net",
       {{"outcome.csv", "planted.csv", 5,
         Table{.kind = "regression", .rows = 200, .features = 1000, .informative = 10, .noise = 2}}}},
      {"neighbours",
       "predictions explained by the rows that decided them",
       {{"rows.csv", "", 5, Table{.kind = "classification", .rows = 303, .features = 6, .classes = 3}}}},
      {"digits",
       "handwritten digits from R, on a GPU or the CPU: SVMs of all pairs, pictures of mistakes and weights",
       {}},
      {"own-function", "a CUDA function of one's own, from C++ and R, on a GPU or the CPU", {}},
  };
  return rows;
}

const Story& find_story(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& story : stories()) names.push_back(story.name);
  return stories()[find_name("example", name, names)];
}

void write_data(const Context& context, const StoryData& data, const fs::path& folder) {
  const auto seeded = context.with({.seed = data.seed});
  const auto path = (folder / data.file).string();
  if (const auto* psms = std::get_if<PsmOptions>(&data.options)) return generate_psms(seeded, *psms, path);
  const auto generated = generate<double>(seeded, std::get<GenerateOptions>(data.options));
  write_dataset(seeded, generated.dataset, path);
  if (!data.truth.empty()) write_text_file((folder / data.truth).string(), planted_table(generated));
}

void write_scripts(const Story& story, const fs::path& folder) {
  constexpr auto executable = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  for (const auto& file : story_files()) {
    if (file.story != story.name) continue;
    const auto path = folder / file.name;
    write_text_file(path.string(), file.text);
    if (path.extension() == ".sh") fs::permissions(path, executable, fs::perm_options::add);
  }
}

struct ExampleCommand {
  std::string name, folder;
  Common common;

  void run() {
    if (name.empty()) return list();
    const auto& story = find_story(name);
    if (folder.empty()) folder = name;
    make_folder();
    try {
      const auto context = common.context();
      for (const auto& data : story.data) write_data(context, data, folder);
      write_scripts(story, folder);
    } catch (...) {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
      throw;
    }
    if (!common.quiet()) say(fmt::format("{}: {}\nnext: {}/run.sh", folder, story.about, folder));
  }

  /// A folder that is there is never filled: it may hold somebody's work.
  void make_folder() const {
    std::error_code error;
    if (fs::exists(folder, error)) fail("{}: exists; name another folder behind {}", folder, name);
    if (!fs::create_directory(folder, error)) fail("{}: the folder cannot be made: {}", folder, error.message());
  }

  static void list() {
    std::vector<std::vector<std::string>> rows;
    for (const auto& story : stories()) rows.push_back({bold(std::string(story.name)), std::string(story.about)});
    print(table(rows, "ll", 0));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto example = std::make_shared<ExampleCommand>();
  arguments.positional("NAME", example->name, "the example; without it, all are listed", false);
  arguments.positional("DIR", example->folder, "the folder to make [NAME]", false);
  example->common.declare(arguments, {"threads"}, {.precision = false, .json = false});
  arguments.writes_folder("DIR");
  return [example] { example->run(); };
}

}  // namespace

Command example_command() {
  return {"example",
          "Write a folder with data and scripts of a worked example, to read, run and change",
          {{"the list of examples", "sheaf example"},
           {"microbes and disease", "sheaf example microbes && microbes/run.sh"},
           {"into a folder of another name", "sheaf example survival study"}},
          declare};
}

}  // namespace sheaf::cli

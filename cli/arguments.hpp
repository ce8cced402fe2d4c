// The arguments of a command, declared once: parsing, help and documentation use the same declaration.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/solvers/parameters.hpp>

#include "files.hpp"

namespace sheaf::cli {

/// One option as help shows it.
struct Option {
  std::string flag;   // "--threads"
  std::string value;  // "N"; empty for a switch
  std::string help;
  std::string default_text;
  std::function<void(const std::string&)> set;
  int words = 1;  // that belong to it; set is called for each
  bool given = false;
  /// For options that only some families have: the setter of each family, called once the family is chosen.
  std::vector<std::pair<std::string, std::function<void(const std::string&)>>> families = {};
  std::vector<std::string> kinds = {};    ///< of models of these families that have it; empty: all
  std::vector<std::string> texts = {};    ///< as given
  std::vector<std::string> choices = {};  ///< known values; empty: anything
  std::string also = {};                  ///< another name: "-m"
  FileUse use = FileUse::none;            ///< of the file that it names

  // Further contents of forms.
  ParameterType type = ParameterType::text;
  double low = std::numeric_limits<double>::lowest(), high = std::numeric_limits<double>::max();
  std::string preset = {};  ///< the default as text; empty: none that is fixed
  std::string vector = {};  ///< the file has a number for each "row" or "feature"
  bool is_list = false;     ///< several values that a search tries
  bool of_numbers = false;  ///< these are numbers
};

struct Positional {
  std::string name;
  std::string help;
  std::string* value;
  bool required;
  std::vector<std::string>* values = nullptr;  ///< of the last one, which may be given several times
  FileUse use = FileUse::none;
};

struct Section {
  std::string title;
  std::vector<Option> options;
};

class Arguments {
 public:
  void positional(std::string name, std::string& value, std::string help, bool required = true);
  /// The last one, of which there may be several.
  void positionals(std::string name, std::vector<std::string>& values, std::string help, bool required = true);
  /// Options declared from here on stand under `title`.
  void section(std::string title);
  void add(Option option);
  void flag(const std::string& name, bool& value, std::string help);
  void text(const std::string& name, std::string value_name, std::string& value, std::string help);
  /// Separated by commas; may be given several times.
  void list(const std::string& name, std::string value_name, std::vector<std::string>& values, std::string help);

  /// The rows of an options struct that `names` lists (none: all), in the order of parameters().
  template <class Options>
  void parameters(Options& options, std::initializer_list<std::string_view> names = {}) {
    for (const auto& row : sheaf::parameters<Options>())
      if (names.size() == 0 || std::find(names.begin(), names.end(), row.name) != names.end())
        add(option(row, row.name, options));
  }
  /// An option that only models of one family have. Families may share a flag; apply_family() sets it.
  void add_for_family(const std::string& family, Option option);
  /// Sets the given options of some families. begin(k, option) comes before an option of the k-th of them and returns
  /// whether the model takes it. One that none takes is a UsageError; `model` is their name in it.
  void apply_families(const std::vector<std::string>& families, std::string_view model,
                      const std::function<bool(std::size_t, std::string_view)>& begin) const;
  /// The options of families that were given, without their dashes.
  std::vector<std::string> given_for_families() const;

  /// One row under another name, if two structs of one command would clash.
  template <class Options>
  void parameter(Options& options, std::string_view name, const std::string& flag, const std::string& help = {}) {
    for (const auto& row : sheaf::parameters<Options>()) {
      if (row.name != name) continue;
      auto one = option(row, flag, options);
      if (!help.empty()) one.help = help;
      add(std::move(one));
    }
  }

  /// Declares how the command uses the files that these positionals and options name. Each of them must be listed.
  void reads(std::initializer_list<std::string_view> names) { set_use(names, FileUse::read); }
  void writes(std::initializer_list<std::string_view> names) { set_use(names, FileUse::written); }
  void writes_folder(std::string_view name) { set_use({name}, FileUse::folder); }
  /// Files whose names follow from others; asked once the command line is known.
  void writes_also(std::function<std::vector<std::string>()> paths) { more_ = std::move(paths); }

  /// The option that sets one row of `options`.
  template <class Options>
  static Option option(const Parameter<Options>& row, const std::string& name, Options& options) {
    auto result =
        option_of(row, name, [&options, set_row = row.set](const std::string& text) { set_row(options, text); });
    if (row.type != ParameterType::yes_no && row.get && row.get(options) != row.get(Options{}))
      result.default_text = row.get(options);
    if (row.get && row.type != ParameterType::yes_no) result.preset = row.get(options);
    return result;
  }
  /// The same with a function that sets it.
  template <class Options>
  static Option option_of(const Parameter<Options>& row, const std::string& name,
                          const std::function<void(const std::string&)>& set) {
    if (row.type == ParameterType::yes_no) {
      const bool on = row.default_text == "yes";
      return {on ? "--no-" + name : "--" + name, "", on ? "turn off: " + row.help : row.help, "",
              [set, on](const std::string&) { set(on ? "no" : "yes"); }};
    }
    std::string value = row.value;
    if (!row.choices.empty() && row.choices.size() <= 5) value = join(row.choices, '|');
    std::string help = row.help;
    if (row.choices.size() > 5) help += " (" + join(row.choices, ' ') + ")";
    Option result{"--" + name, std::move(value), std::move(help), row.default_text, set};
    result.choices = row.choices;
    result.type = row.type;
    result.low = row.low;
    result.high = row.high;
    return result;
  }

  /// Reads the words behind the command's name. Errors in them are UsageErrors.
  void parse(std::span<const std::string> words);
  bool given(std::string_view flag) const;
  bool help_wanted() const { return help_; }
  /// The word behind --help; empty: none.
  const std::string& help_topic() const { return help_topic_; }
  /// The last text given for an option; empty if none was given.
  std::string text_of(std::string_view flag) const;
  /// All files of the command.
  std::vector<CommandFile> files() const;

  const std::vector<Positional>& positionals() const { return positionals_; }
  const std::vector<Section>& sections() const { return sections_; }

 private:
  static std::string join(const std::vector<std::string>& names, char between);
  std::vector<std::string> flags() const;
  void check(std::span<const std::string> extras) const;
  std::vector<std::string> without_topic(std::span<const std::string> words, bool own_h);
  void set_use(std::initializer_list<std::string_view> names, FileUse use);
  void check_uses() const;

  std::vector<Positional> positionals_;
  std::vector<Section> sections_{{"Options", {}}};
  bool help_ = false;
  std::string help_topic_;
  std::function<std::vector<std::string>()> more_;
};

}  // namespace sheaf::cli

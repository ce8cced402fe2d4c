// The options of commands as a form, and settings as the words of a command.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/http/json.hpp"

namespace sheaf::app {

/// One option of a command. The front end that has the commands fills it in.
struct FormOption {
  std::string name;  ///< without dashes, and without the "no-" of a switch that turns something off
  std::string flag;  ///< "--folds", "--no-standardise"
  std::string type;  ///< as in docs/api/openapi.json
  std::string value, help, default_text;
  std::optional<std::string> preset;  ///< the default as text
  std::vector<std::string> choices;
  std::vector<std::string> kinds;  ///< of models that have it; empty: all, or not of a model
  std::optional<double> low, high;
  std::string vector;  ///< a file with a number for each "row" or "feature"
  bool is_switch = false;
  bool several = false;     ///< choices may be joined by commas
  bool repeated = false;    ///< may be given several times
  bool is_list = false;     ///< a search takes several values
  bool of_numbers = false;  ///< these are numbers
  bool of_family = false;   ///< of models of some families only
  bool reads_file = false, writes = false;
  bool main = false;
};

struct FormSection {
  std::string title;
  std::vector<FormOption> options;
};

/// Facts that the program's front end has about its commands.
struct Commands {
  std::function<std::vector<FormSection>(std::string_view command)> sections;
  /// Why an option does not take a text, without a model's options; nothing: it does.
  std::function<std::optional<std::string>(std::string_view command, const std::string& flag, const std::string& text)>
      check;
};

/// Something that people start: a command, or a part of it.
struct Task {
  std::string name, title, about, command;
  std::string input;                ///< table or psms
  std::vector<std::string> hidden;  ///< titles of sections that it does not have
  bool resumes = false;             ///< an interrupted one can go on
  bool model = false;               ///< has kinds of models
  bool plans = false;               ///< says what it would take (--plan)
};
const std::vector<Task>& tasks();
/// A 400 Refusal for another name.
const Task& find_task(const std::string& name);

class Forms {
 public:
  explicit Forms(Commands commands);

  /// The answer of GET /parameters.
  const Json& json() const { return json_; }
  const std::vector<FormSection>& sections(const Task& task) const;
  const Commands& commands() const { return commands_; }
  /// Messages, notes and warnings of an answer name fields by their titles, where commands name flags.
  Json with_titles(Json answer, const std::string& task = tasks().front().name) const;

 private:
  Commands commands_;
  // Of each task:
  std::vector<std::vector<FormSection>> sections_;
  std::vector<std::map<std::string, std::string, std::less<>>> titles_;  // by flags
  Json json_;
};

}  // namespace sheaf::app

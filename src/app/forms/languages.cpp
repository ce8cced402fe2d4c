// A design as Python and as R. What their own functions have no words for is said by the command.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/forms/design.hpp"

namespace sheaf::app {
namespace {

/// In double quotes, as both languages read it.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

std::string listed(const std::vector<std::string>& words) {
  std::vector<std::string> list;
  for (const auto& word : words) list.push_back(quoted(word));
  return fmt::format("{}", fmt::join(list, ", "));
}

bool is_number(const std::string& text) {
  const auto json = parse_json<Json>(text);
  return json.is_number();
}

std::string value(const std::string& text) { return is_number(text) ? text : quoted(text); }

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string with_underscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// The texts of a design, by their names, taken out one after the other.
class Given {
 public:
  explicit Given(const Design& design) {
    for (const auto& [option, texts] : design.given)
      all_[option->name] =
          texts.empty() ? (option->flag.starts_with("--no-") ? "no" : "yes") : fmt::format("{}", fmt::join(texts, ","));
  }
  std::string take(const std::string& name) {
    const auto found = all_.find(name);
    if (found == all_.end()) return {};
    auto text = found->second;
    all_.erase(found);
    return text;
  }
  bool empty() const { return all_.empty(); }

 private:
  std::map<std::string, std::string> all_;
};

bool is_csv(const Design& design) {
  if (design.datasets.size() != 1) return false;
  auto path = design.datasets.front();
  for (const char* ending : {".gz", ".xz", ".zst"})
    if (path.ends_with(ending)) path = path.substr(0, path.rfind('.'));
  return path.ends_with(".csv");
}

std::string python_command(const Design& design) {
  return fmt::format("import subprocess\n\nsubprocess.run([\"sheaf\", {}], check=True)\n",
                     listed(words_with_output(design)));
}

std::string r_command(const Design& design) {
  return fmt::format("system2(\"sheaf\", shQuote(c({})))\n", listed(words_with_output(design)));
}

}  // namespace

std::optional<std::string> python_text(const Design& design) {
  Given given(design);
  const auto label = given.take("label");
  if (design.task->name != "search" || !is_csv(design) || label.empty() || label.find(',') != label.npos)
    return python_command(design);
  std::vector<std::string> arguments;
  const auto pass = [&](const char* option, const char* name) {
    if (const auto text = given.take(option); !text.empty())
      arguments.push_back(fmt::format("{}={}", name, value(text)));
  };
  if (const auto model = given.take("model"); !model.empty()) arguments.push_back(quoted(model));
  const auto task = given.take("task");
  pass("folds", "cv");
  pass("score", "scoring");
  pass("outer", "outer");
  pass("stack", "stack");
  pass("time", "time_budget");
  pass("seed", "random_state");
  pass("device", "device");
  auto left_out = parts_of(given.take("ignore"));
  left_out.insert(left_out.begin(), label);
  if (!given.empty() || task.empty()) return python_command(design);  // classes or numbers: only task says it surely
  const auto* estimator = task == "regression" ? "AutoRegressor" : "AutoClassifier";
  return fmt::format(
      "import pandas as pd\nfrom sheaf import {0}\n\ntable = pd.read_csv({1})\nX = table.drop(columns=[{2}])\n"
      "search = {0}({3}).fit(X, table[{4}])\nprint(search.best_model_, search.best_score_)\n",
      estimator, quoted(design.datasets.front()), listed(left_out), fmt::join(arguments, ", "), quoted(label));
}

std::optional<std::string> r_text(const Design& design) {
  Given given(design);
  if (design.task->name != "search" || design.datasets.size() != 1) return r_command(design);
  const auto label = given.take("label");
  const auto ignored = parts_of(given.take("ignore"));
  std::vector<std::string> arguments, grid, prepare;
  if (const auto model = given.take("model"); !model.empty())
    arguments.push_back(fmt::format(
        "model = {}", parts_of(model).size() == 1 ? quoted(model) : fmt::format("c({})", listed(parts_of(model)))));
  for (const auto& [option, texts] : design.given) {
    if (texts.size() > 1 || !option->vector.empty()) return r_command(design);
    if (option->of_family) {
      const auto text = given.take(option->name);
      const auto name = with_underscores(option->name);
      auto parts = parts_of(text);
      if (text.find(':') != text.npos) return r_command(design);
      std::vector<std::string> values;
      for (const auto& part : parts) values.push_back(value(part));
      if (option->is_list)
        grid.push_back(fmt::format("{} = c({})", name, fmt::join(values, ", ")));
      else
        arguments.push_back(fmt::format("{} = {}", name, value(text)));
    }
  }
  for (const char* step :
       {"impute", "fill", "transform", "min-prevalence", "min-variance", "scale", "select", "bins", "binning"})
    if (const auto text = given.take(step); !text.empty())
      prepare.push_back(fmt::format("{} = {}", with_underscores(step), value(text)));
  for (const char* option : {"folds", "split", "test-size", "window", "gap", "equal-rows", "outer", "score", "choose",
                             "strategy", "trials", "stack", "calibrate"})
    if (const auto text = given.take(option); !text.empty())
      arguments.push_back(fmt::format("{} = {}", with_underscores(option), value(text)));
  if (!given.take("predictions").empty()) arguments.emplace_back("predictions = TRUE");
  const auto seed = given.take("seed");
  arguments.push_back(fmt::format("seed = {}", seed.empty() ? "0" : seed));
  if (!given.empty()) return r_command(design);
  if (!grid.empty()) arguments.push_back(fmt::format("grid = list({})", fmt::join(grid, ", ")));
  if (!prepare.empty()) arguments.push_back(fmt::format("prepare = list({})", fmt::join(prepare, ", ")));
  const auto path = quoted(design.datasets.front());
  std::string data = fmt::format("data <- sheaf_read({})\n", path);
  std::string xy = "data$x, data$y";
  if (!label.empty() || !ignored.empty()) {
    if (!is_csv(design) || label.empty() || label.find(',') != label.npos) return r_command(design);
    std::vector<std::string> left_out{label};
    left_out.insert(left_out.end(), ignored.begin(), ignored.end());
    data = fmt::format("data <- read.csv({}, check.names = FALSE)\nx <- data[setdiff(names(data), c({}))]\n", path,
                       listed(left_out));
    xy = fmt::format("x, data[[{}]]", quoted(label));
  }
  return fmt::format("library(sheaf)\n{}found <- sheaf_search({}, {})\nprint(found)\n", data, xy,
                     fmt::join(arguments, ", "));
}

}  // namespace sheaf::app

#include "text/label_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr std::size_t most_classes = 6;  // whose rows are counted on the line
constexpr std::size_t name_width = 28;

std::string classes_text(const Target& target) {
  std::vector<std::int64_t> counts(target.class_names.size(), 0);
  for (const auto c : target.classes) ++counts[static_cast<std::size_t>(c)];
  std::string text;
  for (std::size_t c = 0; c < std::min(counts.size(), most_classes); ++c)
    text +=
        fmt::format("{}{}: {}", c == 0 ? "" : ", ", shortened(target.class_names[c], name_width), grouped(counts[c]));
  return counts.size() > most_classes ? text + " ..." : text;
}

}  // namespace

std::string label_text(const Target& target, bool regression) {
  if (target.empty()) return {};
  const bool named = !target.name.empty() && target.name != "label";
  const auto name = named ? fmt::format("label {}", target.name) : std::string("label");
  const auto asked = target.kind == LabelKind::automatic ? " (--task says otherwise)" : "";
  if (target.survival())
    return fmt::format("  {}: times, {} of {} rows with an event\n", name,
                       grouped(std::count(target.events.begin(), target.events.end(), 1)), grouped(target.rows()));
  if (target.several()) {
    std::string text;
    const auto add = [&](const std::string& one, const std::vector<double>& values) {
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      text += fmt::format("  target {}: a number from {:.6g} to {:.6g}\n", shortened(one, name_width), *low, *high);
    };
    add(target.name, target.values);
    for (const auto& one : target.further) add(one.name, one.values);
    return text;
  }
  if (regression) {
    const auto [low, high] = std::minmax_element(target.values.begin(), target.values.end());
    return fmt::format("  {}: a number from {:.6g} to {:.6g}, regression{}\n", name, *low, *high, dim(asked));
  }
  const auto positive =
      target.positive >= 0 && target.class_names.size() == 2
          ? fmt::format("; positive class {}",
                        shortened(target.class_names[static_cast<std::size_t>(target.positive)], name_width))
          : "";
  return fmt::format("  {}: {} class{} ({}){}{}\n", name, target.class_names.size(),
                     target.class_names.size() == 1 ? "" : "es", classes_text(target), positive,
                     target.values.empty() ? "" : dim(asked));
}

std::string with_steps(std::string text, const std::string& steps) {
  if (!steps.empty())
    text.insert(std::min(text.find('\n'), text.size() - 1) + 1, fmt::format("  steps before the model: {}\n", steps));
  return text;
}

std::string with_label(std::string text, const Target& target, bool regression) {
  text.insert(std::min(text.find('\n'), text.size() - 1) + 1, label_text(target, regression));
  return text;
}

}  // namespace sheaf::cli

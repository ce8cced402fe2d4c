#include <algorithm>
#include <unordered_set>

#include <sheaf/dataset.hpp>

namespace sheaf {

std::vector<std::string> Annotations::of(std::string_view feature) const {
  const auto found = texts.find(feature);
  return found == texts.end() ? std::vector<std::string>(columns.size()) : found->second;
}

template <class T>
Annotations annotations_of(const Dataset<T>& dataset, std::span<const std::string> wanted) {
  Annotations result;
  for (const auto& column : dataset.annotations) result.columns.push_back(column.name);
  if (result.empty()) return result;
  const std::unordered_set<std::string_view> names(wanted.begin(), wanted.end());
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    auto name = dataset.feature_name(j);
    if (!names.empty() && names.count(name) == 0) continue;
    std::vector<std::string> texts;
    for (const auto& column : dataset.annotations) texts.push_back(column.values[static_cast<std::size_t>(j)]);
    if (std::any_of(texts.begin(), texts.end(), [](const auto& text) { return !text.empty(); }))
      result.texts.emplace(std::move(name), std::move(texts));
  }
  return result;
}

template Annotations annotations_of(const Dataset<float>&, std::span<const std::string>);
template Annotations annotations_of(const Dataset<double>&, std::span<const std::string>);

}  // namespace sheaf

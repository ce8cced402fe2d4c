// Datasets as a pipeline reads them: its features in its order, levels as it numbers them.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/prepare/dense.hpp"
#include "data/read/columns.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t absent = -1;

/// If any output of the transform may be needed, all of its inputs are.
void need_row(const RowStep& step, std::vector<bool>& needed) {
  if (step.features.empty()) needed.assign(needed.size(), true);
  for (const auto j : step.features) needed[static_cast<std::size_t>(j)] = true;
}

/// Marks the inputs that change any output.
std::vector<bool> needed_inputs(const Pipeline& pipeline) {
  std::vector<std::int64_t> widths{pipeline.features};
  for (const auto& step : pipeline.steps) {
    auto width = widths.back();
    if (const auto* take = std::get_if<TakeStep>(&step)) width = std::ssize(take->features);
    if (const auto* encode = std::get_if<EncodeStep>(&step)) width = std::ssize(encode->columns);
    if (const auto* impute = std::get_if<ImputeStep>(&step)) width += std::ssize(impute->indicated);
    widths.push_back(width);
  }
  std::vector<bool> needed(static_cast<std::size_t>(widths.back()), true);
  for (std::size_t s = pipeline.steps.size(); s-- > 0;) {
    std::vector<bool> before(static_cast<std::size_t>(widths[s]), false);
    const auto& step = pipeline.steps[s];
    const auto pass = [&](std::int64_t from, std::size_t to) {
      if (needed[to]) before[static_cast<std::size_t>(from)] = true;
    };
    if (const auto* take = std::get_if<TakeStep>(&step)) {
      for (std::size_t k = 0; k < take->features.size(); ++k) pass(take->features[k], k);
    } else if (const auto* encode = std::get_if<EncodeStep>(&step)) {
      for (std::size_t c = 0; c < encode->columns.size(); ++c) pass(encode->columns[c].feature, c);
    } else {
      for (std::size_t j = 0; j < before.size(); ++j) before[j] = needed[j];
      if (const auto* impute = std::get_if<ImputeStep>(&step))
        for (std::size_t k = 0; k < impute->indicated.size(); ++k) pass(impute->indicated[k], before.size() + k);
      const auto* row = std::get_if<RowStep>(&step);
      if (row != nullptr && row->mixes_features()) need_row(*row, before);
    }
    needed = std::move(before);
  }
  return needed;
}

bool are_positions(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return !name.empty() && name.front() != '0' && name.find_first_not_of("0123456789") == std::string::npos;
  });
}

/// Features without names are named by their positions, and so may be those of a part of them: then names count.
template <class T>
bool match_names(const Pipeline& pipeline, const Dataset<T>& dataset) {
  const bool ours = !pipeline.feature_names.empty();
  const bool theirs = !dataset.feature_names.empty();
  if (ours == theirs) return ours;
  if (pipeline.features == dataset.features()) return false;
  return are_positions(ours ? pipeline.feature_names : dataset.feature_names);
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// "; 'Age' is there as 'age'" for the first name that differs in letter case only.
template <class Names>
std::string case_hint(const std::vector<std::string>& missing, const Names& there) {
  for (const auto& name : missing)
    for (const auto& [other, place] : there)
      if (in_small_letters(other) == in_small_letters(name))
        return fmt::format("; '{}' is there as '{}': names must agree in letter case", name, other);
  return {};
}

/// For each feature of the pipeline its place in the dataset.
template <class T>
std::vector<std::int64_t> find_places(const Pipeline& pipeline, const Dataset<T>& dataset,
                                      std::vector<std::string>& warnings) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(pipeline.features), absent);
  const auto& names = pipeline.feature_names;  // empty ones: of features without a weight, which no prediction reads
  const bool reads_any =
      names.empty() || std::any_of(names.begin(), names.end(), [](const auto& name) { return !name.empty(); });
  if (dataset.features() == 0 && pipeline.features > 0 && reads_any && !is_sparse(dataset.x))
    fail("{}: has no column of the model{}", dataset.source, names.empty() ? "" : ", which reads " + some_names(names));
  if (!match_names(pipeline, dataset)) {
    for (std::int64_t j = 0; j < std::min(pipeline.features, dataset.features()); ++j)
      places[static_cast<std::size_t>(j)] = j;
    return places;
  }
  std::map<std::string, std::int64_t, std::less<>> by_name;
  for (std::int64_t j = 0; j < dataset.features(); ++j) by_name.try_emplace(dataset.feature_name(j), j);
  const auto name_of = [&](std::size_t j) {
    return pipeline.feature_names.empty() ? std::to_string(j + 1) : pipeline.feature_names[j];
  };
  const auto needed = needed_inputs(pipeline);
  std::vector<std::string> missing;
  std::size_t known = 0;
  for (std::size_t j = 0; j < places.size(); ++j) {
    const auto name = name_of(j);
    const auto found = by_name.find(name);
    if (found != by_name.end()) {
      places[j] = found->second;
      ++known;
    } else if (needed[j] && !name.empty()) {
      missing.push_back(name);
    }
  }
  if (!missing.empty())
    fail("{}: {} feature{} of the model {} missing: {}{}", dataset.source, missing.size(),
         missing.size() == 1 ? "" : "s", missing.size() == 1 ? "is" : "are", some_names(missing),
         case_hint(missing, by_name));
  if (known < by_name.size())
    warnings.push_back(fmt::format("{}: {} {} not in the model and left out", dataset.source,
                                   counted(by_name.size() - known, "column"),
                                   by_name.size() - known == 1 ? "is" : "are"));
  return places;
}

template <class T>
Dataset<T> take_places(const Dataset<T>& dataset, std::vector<std::int64_t> places, int threads) {
  bool same = std::ssize(places) == dataset.features();
  for (std::size_t k = 0; k < places.size() && same; ++k) same = places[k] == static_cast<std::int64_t>(k);
  if (same) return dataset.borrowed();
  auto wider = dataset.borrowed();
  if (std::find(places.begin(), places.end(), absent) != places.end()) {  // a column of zeros to take them from
    const auto zeros = dataset.features();
    if (auto* sparse = std::get_if<SparseMatrix<T>>(&wider.x)) {
      SparseMatrix<T> more{sparse->rows, zeros + 1, std::move(sparse->offsets), std::move(sparse->indices),
                           std::move(sparse->values)};
      wider.replace_x(std::move(more));
    } else {
      const auto& dense = std::get<DenseMatrix<T>>(dataset.x);
      DenseMatrix<T> more{dense.rows, zeros + 1, Array<T>::zeros(dense.rows * (zeros + 1))};
      for (std::int64_t i = 0; i < dense.rows; ++i)
        std::copy_n(dense.values.data() + i * zeros, zeros, more.values.data() + i * (zeros + 1));
      wider.replace_x(std::move(more));
    }
    if (!wider.feature_names.empty()) wider.feature_names.emplace_back();
    if (!wider.levels.empty()) wider.levels.emplace_back();
    for (auto& column : wider.annotations) column.values.emplace_back();
    std::replace(places.begin(), places.end(), absent, zeros);
  }
  return take_features(wider, places, threads);
}

/// For each level of the dataset its number in the pipeline; behind the last: a level that is not in the pipeline.
std::vector<std::int64_t> match_levels(const std::vector<std::string>& of_dataset,
                                       const std::vector<std::string>& of_pipeline, std::vector<std::string>& unknown) {
  std::vector<std::int64_t> match;
  for (const auto& level : of_dataset) {
    const auto found = std::find(of_pipeline.begin(), of_pipeline.end(), level);
    match.push_back(found - of_pipeline.begin());
    if (found == of_pipeline.end()) unknown.push_back(level);
  }
  return match;
}

template <class T>
void number_levels(const Context& context, const Pipeline& pipeline, Dataset<T>& dataset,
                   std::vector<std::string>& warnings) {
  if (pipeline.levels.empty() && dataset.levels.empty()) return;
  std::vector<std::vector<std::int64_t>> matches(static_cast<std::size_t>(pipeline.features));
  bool changes = false;
  for (std::size_t j = 0; j < matches.size(); ++j) {
    const auto& ours = pipeline.levels.empty() ? std::vector<std::string>() : pipeline.levels[j];
    const auto& theirs = dataset.levels.empty() ? std::vector<std::string>() : dataset.levels[j];
    if (ours == theirs) continue;
    const auto name = pipeline.feature_names.empty() ? std::to_string(j + 1) : pipeline.feature_names[j];
    if (ours.empty() || theirs.empty())
      fail("{}: feature '{}' holds {}, in the model it holds {}", dataset.source, name,
           theirs.empty() ? "numbers" : "levels", ours.empty() ? "numbers" : "levels");
    std::vector<std::string> unknown;
    matches[j] = match_levels(theirs, ours, unknown);
    changes = true;
    if (!unknown.empty())
      warnings.push_back(fmt::format("{}: feature '{}' has levels that the model does not know: {}", dataset.source,
                                     name, some_names(unknown)));
  }
  dataset.levels = pipeline.levels;
  if (!changes) return;
  make_dense(context, dataset, "another order of levels", "write the levels in the order of the training data");
  auto& x = std::get<DenseMatrix<T>>(dataset.change_x());
  parallel_ranges(context, x.rows, 1024, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::size_t j = 0; j < matches.size(); ++j) {
        if (matches[j].empty()) continue;
        T& value = x.values[i * x.columns + static_cast<std::int64_t>(j)];
        if (!std::isnan(value)) value = static_cast<T>(matches[j][static_cast<std::size_t>(value)]);
      }
  });
}

/// The first so many features of a sparse dataset, or zeros behind those that it has: without memory for each feature.
template <class T>
Dataset<T> with_features(const Dataset<T>& dataset, std::int64_t features) {
  auto result = dataset.borrowed();
  auto& x = std::get<SparseMatrix<T>>(result.x);
  SparseMatrix<T> kept{x.rows, features, std::move(x.offsets), std::move(x.indices), std::move(x.values)};
  if (features < dataset.features()) {
    const auto all = std::exchange(kept, {x.rows, features, Array<std::int64_t>(x.rows + 1), {}, {}});
    kept.offsets[0] = 0;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const auto* begin = all.indices.data() + all.offsets[i];
      const auto* end = all.indices.data() + all.offsets[i + 1];
      kept.offsets[i + 1] = kept.offsets[i] + (std::lower_bound(begin, end, features) - begin);
    }
    kept.indices = Array<std::int32_t>(kept.offsets[x.rows]);
    kept.values = Array<T>(kept.offsets[x.rows]);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const auto count = kept.offsets[i + 1] - kept.offsets[i];
      std::copy_n(all.indices.data() + all.offsets[i], count, kept.indices.data() + kept.offsets[i]);
      std::copy_n(all.values.data() + all.offsets[i], count, kept.values.data() + kept.offsets[i]);
    }
  }
  result.replace_x(std::move(kept));
  return result;
}

}  // namespace

template <class T>
Dataset<T> align_features(const Context& context, const Pipeline& pipeline, const Dataset<T>& dataset,
                          std::vector<std::string>& warnings) {
  const bool plain = is_sparse(dataset.x) && dataset.feature_names.empty() && pipeline.feature_names.empty() &&
                     dataset.levels.empty() && dataset.annotations.empty();
  auto result = plain ? with_features(dataset, pipeline.features)
                      : take_places(dataset, find_places(pipeline, dataset, warnings), context.threads());
  result.feature_names = pipeline.feature_names;
  number_levels(context, pipeline, result, warnings);
  return result;
}

template Dataset<float> align_features(const Context&, const Pipeline&, const Dataset<float>&,
                                       std::vector<std::string>&);
template Dataset<double> align_features(const Context&, const Pipeline&, const Dataset<double>&,
                                        std::vector<std::string>&);

}  // namespace sheaf

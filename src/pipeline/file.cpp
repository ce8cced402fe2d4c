#include "pipeline/file.hpp"

#include <array>
#include <utility>

namespace sheaf::pipeline {
namespace {

constexpr double any_number = std::numeric_limits<double>::lowest();

const std::array<std::string, 5>& step_names() {
  static const std::array<std::string, 5> names{"impute", "encode", "transform", "take", "scale"};
  return names;
}

std::vector<std::string> transform_names() {
  std::vector<std::string> names;
  for (int k = 0; k <= static_cast<int>(RowTransform::rank); ++k)
    names.emplace_back(to_string(static_cast<RowTransform>(k)));
  return names;
}

const std::array<std::string, 5>& scale_names() {
  static const std::array<std::string, 5> names{"01", "-11", "standard", "maxabs", "robust"};
  return names;
}

/// A place from 0 in memory, from 1 in the file, of 1 to `end`.
template <class File, class Place>
void place_on_line(File& file, Place& place, std::int64_t end) {
  if constexpr (File::reading) {
    file.skip_blanks();
    const auto before = file;
    const auto position = file.count("a position", 1);
    if (position > end) before.fail_here(fmt::format("expected a position of 1 to {}, not {}", end, position));
    place = static_cast<Place>(position - 1);
  } else {
    file.value(place + 1, {});
  }
}

/// How many there are, then each.
template <class File, class Places>
void places_on_line(File& file, Places& places, std::int64_t end) {
  if constexpr (File::reading) {
    const auto count = file.count("how many follow", 0);
    file.check_room(count);
    places.resize(static_cast<std::size_t>(count));
  } else {
    file.value(places.size(), {});
  }
  for (auto& place : places) place_on_line(file, place, end);
  file.end_line();
}

template <class File, class Numbers>
void numbers_line(File& file, std::string_view key, Numbers& numbers, std::int64_t count) {
  if constexpr (File::reading) {
    file.check_room(count);
    numbers.resize(static_cast<std::size_t>(count));
  }
  file.keyword(key);
  for (auto& number : numbers) file.value(number, "a number", any_number);
  file.end_line();
}

/// The number of levels of each feature, 0 of numbers, at one place of a pipeline.
using LevelCounts = std::vector<std::int64_t>;

// Each describes a step behind its name, and changes the levels to those of its output.

template <class File, class Step>
void describe_impute(File& file, Step& step, LevelCounts& levels) {
  places_on_line(file, step.indicated, std::ssize(levels));
  numbers_line(file, "fill", step.fill, std::ssize(levels));
  levels.resize(levels.size() + step.indicated.size(), 0);
}

template <class File, class Step>
void describe_encode(File& file, Step& step, LevelCounts& levels) {
  if constexpr (File::reading) {
    const auto count = file.count("how many features come out", 0);
    file.check_room(count);
    step.columns.resize(static_cast<std::size_t>(count));
  } else {
    file.value(step.columns.size(), {});
  }
  file.end_line();
  for (auto& column : step.columns) {
    file.keyword("column");
    place_on_line(file, column.feature, std::ssize(levels));
    places_on_line(file, column.levels, levels[static_cast<std::size_t>(column.feature)]);
  }
  levels.assign(step.columns.size(), 0);
}

template <class File, class Step>
void describe_take(File& file, Step& step, LevelCounts& levels) {
  places_on_line(file, step.features, std::ssize(levels));
  LevelCounts taken;
  for (const auto j : step.features) taken.push_back(levels[static_cast<std::size_t>(j)]);
  levels = std::move(taken);
}

template <class File, class Step>
void describe_scale(File& file, Step& step, std::int64_t features) {
  file.choice(step.method, scale_names());
  file.end_line();
  numbers_line(file, "shift", step.shift, features);
  numbers_line(file, "factor", step.factor, features);
}

/// The places of features follow if it is not for all.
template <class File, class Step>
void describe_transform(File& file, Step& step, std::int64_t features) {
  file.choice(step.transform, transform_names());
  bool some = !step.features.empty();
  if constexpr (File::reading) {
    file.skip_blanks();
    some = !file.at_line_end();
  }
  if (some)
    places_on_line(file, step.features, features);
  else
    file.end_line();
}

template <class File, class Step>
void describe_step(File& file, Step& step, LevelCounts& levels) {
  auto kind = step.index();
  file.keyword("step");
  file.choice(kind, step_names());
  if constexpr (File::reading) {
    static constexpr std::array<PipelineStep (*)(), 5> make{
        [] { return PipelineStep(ImputeStep{}); }, [] { return PipelineStep(EncodeStep{}); },
        [] { return PipelineStep(RowStep{}); }, [] { return PipelineStep(TakeStep{}); },
        [] { return PipelineStep(Scaling{}); }};
    step = make.at(kind)();
  }
  if (auto* impute = std::get_if<ImputeStep>(&step)) describe_impute(file, *impute, levels);
  if (auto* encode = std::get_if<EncodeStep>(&step)) describe_encode(file, *encode, levels);
  if (auto* take = std::get_if<TakeStep>(&step)) describe_take(file, *take, levels);
  if (auto* scale = std::get_if<Scaling>(&step)) describe_scale(file, *scale, std::ssize(levels));
  if (auto* row = std::get_if<RowStep>(&step)) {
    describe_transform(file, *row, std::ssize(levels));
  }
}

/// A line of the shares of a feature's levels if they are known.
template <class File, class Shares>
void optional_shares(File& file, Shares& shares, std::size_t feature, std::int64_t features, std::int64_t count) {
  if constexpr (File::reading) {
    if (file.peek() != "shares") return;
    shares.resize(static_cast<std::size_t>(features));
  } else if (shares.empty()) {
    return;
  }
  numbers_line(file, "shares", shares[feature], count);
}

template <class File, class Levels, class Shares>
void describe_levels(File& file, Levels& levels, Shares& shares, std::int64_t features) {
  std::vector<std::int64_t> nominal;
  for (std::size_t j = 0; j < levels.size(); ++j)
    if (!levels[j].empty()) nominal.push_back(static_cast<std::int64_t>(j));
  file.keyword("nominal");
  places_on_line(file, nominal, features);
  if constexpr (File::reading)
    if (!nominal.empty()) levels.resize(static_cast<std::size_t>(features));
  for (const auto j : nominal) {
    auto& of = levels[static_cast<std::size_t>(j)];
    auto count = static_cast<std::int64_t>(of.size());
    file.count("levels", count, any_count);
    name_lines(file, "level", of, count);
    optional_shares(file, shares, static_cast<std::size_t>(j), features, count);
  }
}

/// A line "key name" if there is a name.
template <class File, class Name>
void optional_name(File& file, std::string_view key, Name& name) {
  if constexpr (File::reading) {
    if (file.peek() != key) return;
  } else if (name.empty()) {
    return;
  }
  file.keyword(key);
  file.name(name, "a name");
  file.end_line();
}

/// The lines of the training rows' properties.
template <class File, class Learnt>
void describe_rows(File& file, Learnt& pipeline) {
  optional_name(file, "label", pipeline.label);
  optional_name(file, "positive", pipeline.positive);
  auto count = std::ssize(pipeline.means);
  if constexpr (File::reading)
    if (file.peek() != "trained-on") return;
  if (count == 0 && !File::reading) return;
  file.count("trained-on", count, any_count);
  numbers_line(file, "means", pipeline.means, count);
  numbers_line(file, "spreads", pipeline.spreads, count);
}

/// Returns the number of features that come out.
template <class File, class Learnt>
std::int64_t describe(File& file, Learnt& pipeline) {
  static const std::array<std::string, 2> no_or_yes{"no", "yes"};
  auto steps = std::ssize(pipeline.steps);
  file.count("pipeline", steps, any_count);
  file.count("inputs", pipeline.features, any_count);
  if constexpr (File::reading) {
    file.check_room(steps);
    file.check_features(pipeline.features);
  }
  bool named = !pipeline.feature_names.empty();
  choice_line(file, "input-names", named, no_or_yes);
  if (named) name_lines(file, "input", pipeline.feature_names, pipeline.features);
  describe_levels(file, pipeline.levels, pipeline.level_shares, pipeline.features);
  if constexpr (File::reading) pipeline.steps.resize(static_cast<std::size_t>(steps));
  LevelCounts levels(static_cast<std::size_t>(pipeline.features), 0);
  for (std::size_t j = 0; j < pipeline.levels.size(); ++j) levels[j] = std::ssize(pipeline.levels[j]);
  for (auto& step : pipeline.steps) describe_step(file, step, levels);
  return std::ssize(levels);
}

}  // namespace

void write_pipeline(ModelWriter& file, const Pipeline& pipeline) {
  describe_rows(file, pipeline);
  if (!pipeline.steps.empty()) describe(file, pipeline);
}

std::pair<Pipeline, std::int64_t> read_pipeline(ModelReader& reader) {
  std::pair<Pipeline, std::int64_t> read{{}, -1};
  describe_rows(reader, read.first);
  if (reader.peek() == "pipeline") {
    const auto features = describe(reader, read.first);
    if (!read.first.steps.empty()) read.second = features;
  }
  return read;
}

}  // namespace sheaf::pipeline

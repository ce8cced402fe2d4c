#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/prepare/binning.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t tile_rows = 64;
constexpr std::int64_t tile_columns = 32;
using Tile = std::array<std::array<double, tile_rows>, tile_columns>;  // column by column

/// The rule of one feature, ready for many values.
struct Coder {
  explicit Coder(const BinRule& rule)
      : rule_(&rule), last_(rule.states - 1), scale_(rule.states / (rule.high - rule.low)) {}

  template <class Code>
  void operator()(const double* values, std::int64_t count, Code* codes) const {
    switch (rule_->kind) {
      case BinRule::Kind::width:
        if (last_ == 0) return each(values, count, codes, [](double) { return 0; });
        if (!std::isfinite(scale_)) return each(values, count, codes, [this](double x) { return narrow(x); });
        return each(values, count, codes, [this](double x) { return limited((x - rule_->low) * scale_); });
      case BinRule::Kind::cuts:
        return each(values, count, codes, [this](double x) { return cuts_below(x); });
      case BinRule::Kind::integers:
        return each(values, count, codes, [this](double x) { return limited(std::floor(x) - rule_->low); });
      case BinRule::Kind::levels:
        return each(values, count, codes, [this](double x) { return limited(x); });
    }
  }

 private:
  template <class Code, class State>
  void each(const double* values, std::int64_t count, Code* codes, State&& state) const {
    for (std::int64_t i = 0; i < count; ++i)
      codes[i] = static_cast<Code>(std::isnan(values[i]) ? rule_->states : state(values[i]));
  }
  std::int32_t limited(double x) const {
    const auto last = static_cast<double>(last_);
    return static_cast<std::int32_t>(x > 0 ? (x < last ? x : last) : 0);
  }
  /// For ranges so narrow that states / (high - low) is beyond double.
  std::int32_t narrow(double x) const { return limited((x - rule_->low) / (rule_->high - rule_->low) * rule_->states); }
  std::int32_t cuts_below(double x) const {
    return static_cast<std::int32_t>(std::lower_bound(rule_->cuts.begin(), rule_->cuts.end(), x) - rule_->cuts.begin());
  }

  const BinRule* rule_;
  std::int32_t last_;
  double scale_;
};

template <class T>
void check_features(const Binning& binning, const Dataset<T>& dataset) {
  if (binning.features() != dataset.features())
    fail("the cuts were learnt on {} and the dataset {} has {}", counted(binning.features(), "feature"), dataset.source,
         dataset.features());
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (!binning.feature_names.empty() && !dataset.feature_names.empty() &&
        binning.feature_names[at] != dataset.feature_names[at])
      fail("feature {} is called '{}' in the cuts and '{}' in the dataset {}; bring the columns into the same order",
           j + 1, binning.feature_names[at], dataset.feature_names[at], dataset.source);
    const bool same =
        dataset.levels.empty() ? binning.rules[at].levels.empty() : dataset.levels[at] == binning.rules[at].levels;
    if (!same)
      fail("the levels of feature '{}' in the dataset {} are not those that the cuts were learnt on",
           dataset.feature_name(j), dataset.source);
  }
}

std::vector<std::int32_t> states_of(const Binning& binning, const bins::Extents& extents) {
  std::vector<std::int32_t> states;
  for (std::size_t j = 0; j < binning.rules.size(); ++j)
    states.push_back(binning.rules[j].states + (extents.missing[j] > 0 ? 1 : 0));
  return states;
}

/// Rows of a tile, some columns of them, turned.
template <class T>
void load(const DenseMatrix<T>& x, Range rows, Range columns, Tile& tile) {
  const auto width = static_cast<std::size_t>(columns.end - columns.begin);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const T* row = x.values.data() + i * x.columns + columns.begin;
    const auto at = static_cast<std::size_t>(i - rows.begin);
    for (std::size_t c = 0; c < width; ++c) tile[c][at] = static_cast<double>(row[c]);
  }
}

/// Some rows and columns of a matrix, which are read where they lie.
template <class T>
struct DensePart {
  const DenseMatrix<T>& x;
  std::span<const std::int32_t> rows;
  std::span<const std::int64_t> columns;
};

template <class T>
void load(const DensePart<T>& part, Range rows, Range columns, Tile& tile) {
  const auto* of = part.columns.data() + columns.begin;
  const auto width = static_cast<std::size_t>(columns.end - columns.begin);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const T* row = part.x.values.data() + part.rows[static_cast<std::size_t>(i)] * part.x.columns;
    const auto at = static_cast<std::size_t>(i - rows.begin);
    for (std::size_t c = 0; c < width; ++c) tile[c][at] = static_cast<double>(row[of[c]]);
  }
}

/// `x` has so many rows and columns, and is read by load().
template <class Code, class X>
Array<Code> dense_codes(const Context& context, const std::vector<Coder>& coders, const X& x, std::int64_t row_count,
                        std::int64_t column_count) {
  const double need = dense_bytes(row_count, column_count, sizeof(Code));
  if (need > static_cast<double>(cpu_budget(context)))
    fail(
        "the states of {} x {} values take {:.1f} GiB, and the memory budget is {}; raise --memory, or take fewer bins",
        row_count, column_count, need / 0x1p30, format_bytes(cpu_budget(context)));
  Array<Code> codes(row_count * column_count);
  Stage stage(context.progress(), "binning", column_count * row_count);
  const std::int64_t stripes = (column_count + tile_columns - 1) / tile_columns;
  const std::int64_t parts = std::clamp<std::int64_t>(row_count / 4096, 1, std::int64_t{context.threads()} * 4);
  parallel_for(context, stripes * parts, [&](std::int64_t task) {
    const auto rows = part_of(row_count, parts, task % parts);
    const auto begin = task / parts * tile_columns;
    const Range columns{begin, std::min(begin + tile_columns, column_count)};
    Tile tile;
    for (std::int64_t i = rows.begin; i < rows.end; i += tile_rows) {
      const Range some{i, std::min(i + tile_rows, rows.end)};
      load(x, some, columns, tile);
      for (std::int64_t j = columns.begin; j < columns.end; ++j)
        coders[static_cast<std::size_t>(j)](tile[static_cast<std::size_t>(j - columns.begin)].data(),
                                            some.end - some.begin, codes.data() + j * row_count + i);
    }
    stage.advance((rows.end - rows.begin) * (columns.end - columns.begin));
  });
  return codes;
}

template <class X>
DenseCodes narrowest_codes(const Context& context, const std::vector<Coder>& coders, const X& x,
                           const BinnedTable& table) {
  const auto most = table.states.empty() ? 0 : *std::max_element(table.states.begin(), table.states.end());
  if (most <= std::numeric_limits<std::uint8_t>::max() + 1)
    return dense_codes<std::uint8_t>(context, coders, x, table.rows, table.features);
  return dense_codes<std::uint16_t>(context, coders, x, table.rows, table.features);
}

std::uint16_t code_of(const Coder& coder, double value) {
  std::uint16_t code = 0;
  coder(&value, 1, &code);
  return code;
}

/// Two passes: how many entries each feature keeps, then the entries. `for_columns(work)` calls work(feature, column);
/// `for_places(row, use)` calls use(place) for each place of a row, in ascending order of rows and places.
template <class T, class ForColumns, class ForPlaces>
SparseCodes sparse_codes(const std::vector<Coder>& coders, const ForColumns& for_columns, const ForPlaces& for_places) {
  const auto features = static_cast<std::int64_t>(coders.size());
  SparseCodes result{Array<std::int64_t>::zeros(features + 1), {}, {}, Array<std::uint16_t>(features)};
  for_columns([&](std::int64_t j, const bins::Column<T>& column) {
    const auto& coder = coders[static_cast<std::size_t>(j)];
    const auto common = code_of(coder, 0);
    result.common[j] = common;
    for (std::size_t k = 0; k < column.values.size(); ++k)
      if (code_of(coder, static_cast<double>(column.values[k])) != common)
        for_places(column.examples[k], [&](std::int32_t) { ++result.offsets[j + 1]; });
  });
  for (std::int64_t j = 0; j < features; ++j) result.offsets[j + 1] += result.offsets[j];
  result.examples = Array<std::int32_t>(result.offsets[features]);
  result.codes = Array<std::uint16_t>(result.offsets[features]);
  for_columns([&](std::int64_t j, const bins::Column<T>& column) {
    auto to = result.offsets[j];
    for (std::size_t k = 0; k < column.values.size(); ++k) {
      const auto code = code_of(coders[static_cast<std::size_t>(j)], static_cast<double>(column.values[k]));
      if (code == result.common[j]) continue;
      for_places(column.examples[k], [&](std::int32_t place) {
        result.examples[to] = place;
        result.codes[to++] = code;
      });
    }
  });
  return result;
}

template <class T>
SparseCodes sparse_codes(const Context& context, const std::vector<Coder>& coders, const Dataset<T>& dataset) {
  return sparse_codes<T>(
      coders, [&](const auto& work) { bins::for_each_column(context, dataset, work); },
      [](std::int32_t row, const auto& use) { use(row); });
}

template <class T>
SparseCodes sparse_codes_of_part(const Context& context, const std::vector<Coder>& coders, const Dataset<T>& dataset,
                                 std::span<const std::int64_t> features, std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> begins(static_cast<std::size_t>(dataset.rows()) + 1, 0);  // of the places of each row
  for (const auto row : rows) ++begins[static_cast<std::size_t>(row) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  const auto& x = dataset.by_columns(Device::cpu(), context.threads());
  return sparse_codes<T>(
      coders,
      [&](const auto& work) {
        parallel_for(context, std::ssize(features), [&](std::int64_t k) {
          const auto begin = x.offsets[features[static_cast<std::size_t>(k)]];
          const auto size = static_cast<std::size_t>(x.offsets[features[static_cast<std::size_t>(k)] + 1] - begin);
          work(k, bins::Column<T>{{x.values.data() + begin, size}, {x.indices.data() + begin, size}, x.columns});
        });
      },
      [&](std::int32_t row, const auto& use) {
        for (auto place = begins[static_cast<std::size_t>(row)]; place < begins[static_cast<std::size_t>(row) + 1];
             ++place)
          use(place);
      });
}

}  // namespace

std::int32_t BinRule::operator()(double value) const {
  std::int32_t code = 0;
  Coder{*this}(&value, 1, &code);
  return code;
}

std::string BinRule::state_name(std::int32_t state) const {
  if (state >= states) return "missing";
  if (kind == Kind::levels) return levels[static_cast<std::size_t>(state)];
  if (kind == Kind::integers) return brief(low + state);
  if (states == 1) return kind == Kind::width ? brief(low) : "any";
  const double step = (high - low) / states;
  if (kind == Kind::width) return fmt::format("{} to {}", brief(low + step * state), brief(low + step * (state + 1)));
  const auto at = static_cast<std::size_t>(state);
  if (state == 0) return "up to " + brief(cuts.front());
  if (state == states - 1) return "over " + brief(cuts.back());
  return fmt::format("{} to {}", brief(cuts[at - 1]), brief(cuts[at]));
}

namespace bins {

template <class T>
std::vector<std::int64_t> count_states(const BinRule& rule, const Column<T>& column) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(rule.states) + 1, 0);  // the last: missing
  const Coder coder(rule);
  std::array<double, tile_rows> values{};
  std::array<std::int32_t, tile_rows> codes{};
  for (std::size_t i = 0; i < column.values.size(); i += tile_rows) {
    const auto some = std::min<std::size_t>(tile_rows, column.values.size() - i);
    std::copy_n(column.values.begin() + static_cast<std::ptrdiff_t>(i), some, values.begin());
    coder(values.data(), static_cast<std::int64_t>(some), codes.data());
    for (std::size_t k = 0; k < some; ++k) ++counts[static_cast<std::size_t>(codes[k])];
  }
  counts[code_of(coder, 0)] += column.zeros();
  counts.pop_back();
  return counts;
}

template <class T>
BinnedTable apply(const Context& context, const Binning& binning, const Dataset<T>& dataset, const Extents& extents) {
  BinnedTable table{dataset.rows(), dataset.features(), states_of(binning, extents), {}};
  const std::vector<Coder> coders(binning.rules.begin(), binning.rules.end());
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x))
    table.codes = narrowest_codes(context, coders, *dense, table);
  else
    table.codes = sparse_codes(context, coders, dataset);
  return table;
}

template <class T>
BinnedTable apply_to_part(const Context& context, std::span<const BinRule> rules, const Dataset<T>& dataset,
                          std::span<const std::int64_t> features, std::span<const std::int32_t> rows) {
  BinnedTable table{std::ssize(rows), std::ssize(features), {}, {}};
  for (const auto& rule : rules) table.states.push_back(rule.states);
  const std::vector<Coder> coders(rules.begin(), rules.end());
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x))
    table.codes = narrowest_codes(context, coders, DensePart<T>{*dense, rows, features}, table);
  else
    table.codes = sparse_codes_of_part(context, coders, dataset, features, rows);
  return table;
}

}  // namespace bins

template <class T>
BinnedTable apply_binning(const Context& context, const Binning& binning, const Dataset<T>& dataset) {
  check_features(binning, dataset);
  const auto extents = bins::measure(context, dataset);
  if (binning.missing == MissingState::error) bins::check_missing(dataset, extents);
  return bins::apply(context, binning, dataset, extents);
}

namespace bins {
template std::vector<std::int64_t> count_states(const BinRule&, const Column<float>&);
template std::vector<std::int64_t> count_states(const BinRule&, const Column<double>&);
template BinnedTable apply(const Context&, const Binning&, const Dataset<float>&, const Extents&);
template BinnedTable apply(const Context&, const Binning&, const Dataset<double>&, const Extents&);
template BinnedTable apply_to_part(const Context&, std::span<const BinRule>, const Dataset<float>&,
                                   std::span<const std::int64_t>, std::span<const std::int32_t>);
template BinnedTable apply_to_part(const Context&, std::span<const BinRule>, const Dataset<double>&,
                                   std::span<const std::int64_t>, std::span<const std::int32_t>);
}  // namespace bins
template BinnedTable apply_binning(const Context&, const Binning&, const Dataset<float>&);
template BinnedTable apply_binning(const Context&, const Binning&, const Dataset<double>&);

}  // namespace sheaf

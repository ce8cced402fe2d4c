#include "model/explain_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "model/keep_largest.hpp"
#include "model/shapley.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

constexpr std::size_t exact_players = 10;  // 1024 predictions
constexpr std::int64_t values_at_once = std::int64_t{1} << 22;

/// One row of the game for each coalition.
template <class T>
Matrix<T> matrix_of(const RowGame<T>& game, std::vector<T> values, std::int64_t columns) {
  const auto width = std::ssize(game.values);
  const auto rows = width > 0 ? std::ssize(values) / width : 0;
  if (game.columns.empty()) return DenseMatrix<T>{rows, columns, Array<T>::copy_of(values)};
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
  for (std::int64_t i = 0; i <= rows; ++i) offsets.push_back(i * width);
  for (std::int64_t i = 0; i < rows; ++i) indices.insert(indices.end(), game.columns.begin(), game.columns.end());
  return SparseMatrix<T>{rows, columns, Array<std::int64_t>::copy_of(offsets), Array<std::int32_t>::copy_of(indices),
                         Array<T>::copy_of(values)};
}

/// Row i as columns and values: all columns of a dense matrix, the stored ones of a sparse matrix.
template <class T>
std::vector<std::pair<std::int32_t, T>> entries_of(const Matrix<T>& x, std::int64_t i) {
  std::vector<std::pair<std::int32_t, T>> entries;
  std::visit(
      [&](const auto& m) {
        pipeline::for_row(m, i,
                          [&](std::int64_t j, T value) { entries.emplace_back(static_cast<std::int32_t>(j), value); });
      },
      x);
  return entries;
}

}  // namespace

double explained_decision(const TrainedModel& model, const Predictions& predictions, std::int64_t i,
                          std::int32_t column) {
  const auto columns = static_cast<std::size_t>(predictions.columns);
  const auto* own = &predictions.decisions[static_cast<std::size_t>(i) * columns];
  const auto classes = static_cast<std::int32_t>(model.class_names().size());
  if (!model.traits().pairs) return own[static_cast<std::size_t>(column)];
  double sum = 0;
  for (std::int32_t a = 0; a < classes; ++a)
    for (std::int32_t b = a + 1; b < classes; ++b, ++own)
      if (a == column || b == column) sum += a == column ? *own : -*own;
  return sum;
}

template <class T>
RowExplainer<T>::RowExplainer(const Context& context, const TrainedModel& model, std::vector<double> reference,
                              std::vector<std::int64_t> origins, std::int64_t features, const ExplainOptions& options)
    : context_(context),
      model_(model),
      reference_(std::move(reference)),
      made_from_(static_cast<std::size_t>(features)),
      most_(options.most) {
  for (std::size_t j = 0; j < origins.size(); ++j)
    made_from_[static_cast<std::size_t>(origins[j])].push_back(static_cast<std::int64_t>(j));
  std::vector<std::int32_t> order(made_from_.size());
  for (std::int32_t k = 0; k < options.orders; ++k) {
    std::iota(order.begin(), order.end(), 0);
    Random(context.seed(), static_cast<std::uint64_t>(k)).shuffle(std::span(order));
    orders_.push_back(order);
  }
}

template <class T>
RowGame<T> RowExplainer<T>::game_of(const Dataset<T>& prepared, const Dataset<T>& dataset, std::int64_t i) const {
  std::vector<std::int64_t> candidates(made_from_.size());
  std::iota(candidates.begin(), candidates.end(), 0);
  if (is_sparse(dataset.x)) {
    candidates.clear();
    for (const auto& [feature, value] : entries_of(dataset.x, i)) candidates.push_back(feature);
  }
  auto entries = entries_of(prepared.x, i);
  const bool sparse = is_sparse(prepared.x);
  const auto by_column = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (sparse) {  // entries of the reference that the row lacks
    const auto stored = std::ssize(entries);
    for (const auto feature : candidates)
      for (const auto j : made_from_[static_cast<std::size_t>(feature)]) {
        const std::pair<std::int32_t, T> zero(static_cast<std::int32_t>(j), T(0));
        if (reference_[static_cast<std::size_t>(j)] != 0 &&
            !std::binary_search(entries.begin(), entries.begin() + stored, zero, by_column))
          entries.push_back(zero);
      }
    std::sort(entries.begin(), entries.end(), by_column);
  }
  RowGame<T> game;
  for (const auto& [column, value] : entries) {
    if (sparse) game.columns.push_back(column);
    game.values.push_back(value);
  }
  for (const auto feature : candidates) {
    std::vector<std::pair<std::size_t, T>> differs;
    for (const auto j : made_from_[static_cast<std::size_t>(feature)]) {
      const std::pair<std::int32_t, T> wanted(static_cast<std::int32_t>(j), T(0));
      const auto at =
          sparse ? std::lower_bound(entries.begin(), entries.end(), wanted, by_column) - entries.begin() : j;
      if (at == std::ssize(entries) || entries[static_cast<std::size_t>(at)].first != j) continue;
      const auto other = static_cast<T>(reference_[static_cast<std::size_t>(j)]);
      if (other != entries[static_cast<std::size_t>(at)].second)
        differs.emplace_back(static_cast<std::size_t>(at), other);
    }
    if (differs.empty()) continue;
    game.players.push_back(feature);
    game.reference.push_back(std::move(differs));
  }
  return game;
}

template <class T>
std::vector<double> RowExplainer<T>::walk(const RowGame<T>& game, const Dataset<T>& like, std::int32_t column,
                                          std::span<const std::int32_t> toggles, bool start) const {
  auto current = game.values;
  std::vector<bool> inside(game.players.size(), false);
  const auto toggle = [&](std::size_t player) {
    inside[player] = !inside[player];
    for (const auto& [at, other] : game.reference[player]) current[at] = inside[player] ? game.values[at] : other;
  };
  for (const auto& of_player : game.reference)
    for (const auto& [at, other] : of_player) current[at] = other;
  const auto width = std::max<std::int64_t>(std::ssize(game.values), 1);
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(values_at_once / width, 1)) * current.size();
  std::vector<double> result;
  std::vector<T> rows;
  const auto predict = [&] {
    const auto count = rows.size() / current.size();
    if (count == 0) return;
    auto some = take_rows(like, std::vector<std::int32_t>(count, 0), 1);
    some.replace_x(matrix_of(game, rows, like.features()));
    const auto predictions = model_.predict(context_, some, false, {});
    for (std::size_t k = 0; k < count; ++k)
      result.push_back(explained_decision(model_, predictions, static_cast<std::int64_t>(k), column));
    rows.clear();
  };
  if (start) rows = current;
  for (const auto player : toggles) {
    toggle(static_cast<std::size_t>(player));
    rows.insert(rows.end(), current.begin(), current.end());
    if (rows.size() >= at_once) predict();
  }
  predict();
  return result;
}

/// The orders of all features, without those that are no players.
template <class T>
std::vector<std::vector<std::int32_t>> RowExplainer<T>::orders_of(const RowGame<T>& game) const {
  std::vector<std::int32_t> places(made_from_.size(), -1);
  for (std::size_t p = 0; p < game.players.size(); ++p)
    places[static_cast<std::size_t>(game.players[p])] = static_cast<std::int32_t>(p);
  std::vector<std::vector<std::int32_t>> result;
  for (const auto& order : orders_) {
    auto& own = result.emplace_back();
    for (const auto feature : order)
      if (places[static_cast<std::size_t>(feature)] >= 0) own.push_back(places[static_cast<std::size_t>(feature)]);
  }
  return result;
}

template <class T>
Explanation RowExplainer<T>::explain(const Dataset<T>& prepared, const Dataset<T>& dataset, std::int64_t i,
                                     std::int32_t column) const {
  const auto game = game_of(prepared, dataset, i);
  const auto like = take_rows(prepared, std::vector<std::int32_t>{static_cast<std::int32_t>(i)}, 1);
  Explanation result;
  result.column = column;
  if (game.players.empty()) {
    result.intercept = explained_decision(model_, model_.predict(context_, like, false, {}), 0, column);
    result.decision = result.intercept;
    return result;
  }
  result.intercept = walk(game, like, column, {}, true).front();
  const WalkValues values = [&](std::span<const std::int32_t> toggles) {
    return walk(game, like, column, toggles, false);
  };
  const auto players = static_cast<std::int32_t>(game.players.size());
  const auto amounts = game.players.size() <= exact_players
                           ? exact_shapley(players, result.intercept, values)
                           : sampled_shapley(players, result.intercept, orders_of(game), values);
  for (std::size_t p = 0; p < amounts.size(); ++p) result.largest.push_back({game.players[p], 0, amounts[p]});
  keep_largest(most_, result);
  return result;
}

template class RowExplainer<float>;
template class RowExplainer<double>;

}  // namespace sheaf

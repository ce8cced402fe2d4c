#include "search/plan/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include <sheaf/error.hpp>
#include "core/random.hpp"

namespace sheaf::engine {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// NaN is worst.
double rated(double score) { return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score; }

/// For a number of points.
std::int64_t drawn_points(std::int64_t points, std::int32_t trials) {
  const auto third = std::max<std::int64_t>(10, points / 3);
  return std::min<std::int64_t>(points, trials > 0 ? trials : third);
}

/// Strategies that stay on the lattice: places are numbers of its points.
class OnLattice : public PointStrategy {
 public:
  OnLattice(const Space& space, const StrategyOptions& options)
      : space_(space), options_(options), scores_(space.lattice.size(), unknown) {
    for (std::int32_t k = 0; k < space.size(); ++k)
      if (!places_.emplace(space.lattice[static_cast<std::size_t>(k)], k).second)
        throw InternalError("a point stands twice in the space of a search");  // it would be asked for again and again
  }

  std::vector<Trial> next() override {
    auto places = next_places();
    std::sort(places.begin(), places.end());
    std::erase_if(places, [&](std::int32_t k) { return known(k); });
    std::vector<Trial> trials;
    for (const auto k : places) trials.push_back({space_.lattice[static_cast<std::size_t>(k)], options_.splits});
    return trials;
  }
  void learn(const Point& point, double score) override {
    scores_[static_cast<std::size_t>(places_.at(point))] = rated(score);
  }

 protected:
  virtual std::vector<std::int32_t> next_places() = 0;

  bool known(std::int32_t place) const { return !std::isnan(scores_[static_cast<std::size_t>(place)]); }
  bool anything_known() const {
    return std::any_of(scores_.begin(), scores_.end(), [](double score) { return !std::isnan(score); });
  }
  std::vector<std::int32_t> all() const {
    std::vector<std::int32_t> places(scores_.size());
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  /// The same for all levels.
  std::vector<std::int32_t> drawn() const {
    auto places = all();
    Random(options_.seed).shuffle(std::span(places));
    places.resize(static_cast<std::size_t>(drawn_points(space_.size(), options_.trials)));
    return places;
  }
  /// The best point; the first of equally good ones.
  std::int32_t best() const {
    std::int32_t best = -1;
    for (std::int32_t k = 0; k < space_.size(); ++k)
      if (known(k) && (best < 0 || scores_[static_cast<std::size_t>(k)] > scores_[static_cast<std::size_t>(best)]))
        best = k;
    return best;
  }
  /// Places up to a share 1 / `parts` of each axis away (one at least) or, unless `between`, just so far or not at all.
  std::vector<std::int32_t> around(std::int32_t place, std::int32_t parts, bool between) const {
    std::vector<std::int32_t> result{0};
    for (std::size_t axis = 0; axis < space_.shape.size(); ++axis) {
      std::int32_t stride = 1;
      for (std::size_t later = axis + 1; later < space_.shape.size(); ++later) stride *= space_.shape[later];
      const auto count = space_.shape[axis];
      const auto here = place / stride % count;
      const auto reach = std::max(1, count / parts);
      std::vector<std::int32_t> more;
      for (std::int32_t step = -reach; step <= reach; step += between ? 1 : reach)
        if (here + step >= 0 && here + step < count)
          for (const auto k : result) more.push_back(k + (here + step) * stride);
      result = std::move(more);
    }
    return result;
  }
  const Space& space() const { return space_; }

 private:
  const Space& space_;
  StrategyOptions options_;
  std::vector<double> scores_;
  std::map<Point, std::int32_t> places_;
};

class Grid : public OnLattice {
 public:
  using OnLattice::OnLattice;

 private:
  std::vector<std::int32_t> next_places() override { return all(); }
};

/// The grid, then step by step beyond the ends of axes with equal steps, from the best point, as long as it is at an
/// end and better than the point before it.
class ExtendingGrid : public PointStrategy {
 public:
  ExtendingGrid(const Space& space, const StrategyOptions& options) : space_(space), splits_(options.splits) {}

  std::vector<Trial> next() override {
    std::vector<Trial> trials;
    if (scores_.empty())
      for (const auto& point : space_.lattice) trials.push_back({point, splits_});
    else
      for (std::size_t axis = 0; axis < space_.axes.size(); ++axis)
        if (auto point = beyond(axis)) trials.push_back({std::move(*point), splits_});
    return trials;
  }
  void learn(const Point& point, double score) override { scores_[point] = rated(score); }

 private:
  static constexpr int most_steps = 6;  // beyond each end

  /// The best point; the first of equally good ones.
  const Point& best() const {
    return std::max_element(scores_.begin(), scores_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  std::optional<Point> beyond(std::size_t axis) const {
    if (axis >= space_.finer.size() || space_.finer[axis].step == 0 || !space_.axes[axis].open_ended) return {};
    const auto& list = space_.values[axis];
    const double ratio = list[1] / list[0];
    auto point = best();
    const double here = point[axis];
    for (const bool up : {false, true}) {
      const double inner = up ? here / ratio : here * ratio;
      const auto score = [&](double value) {
        point[axis] = value;
        const auto found = nearest(point, axis);
        return found == scores_.end() ? unknown : found->second;
      };
      const double outer = up ? here * ratio : here / ratio;
      const double steps = std::abs(std::log(outer / (up ? list.back() : list.front())) / std::log(ratio));
      const bool at_end = up ? here >= list.back() * rounding : here <= list.front() / rounding;
      if (!at_end || std::isfinite(score(outer)) || steps > most_steps + 0.5) continue;
      const double before = score(inner);
      point[axis] = here;
      if (!(scores_.at(point) > before)) continue;
      point[axis] = outer;
      return point;
    }
    return {};
  }
  /// Values along an axis may differ in their last digits.
  std::map<Point, double>::const_iterator nearest(const Point& point, std::size_t axis) const {
    return std::find_if(scores_.begin(), scores_.end(), [&](const auto& entry) {
      for (std::size_t k = 0; k < point.size(); ++k) {
        const double share = entry.first[k] / point[k];
        if (k == axis ? !(share > rounding && share < 1 / rounding) : entry.first[k] != point[k]) return false;
      }
      return true;
    });
  }

  static constexpr double rounding = 1 - 1e-9;
  const Space& space_;
  std::int32_t splits_;
  std::map<Point, double> scores_;
};

class Drawn : public OnLattice {
 public:
  using OnLattice::OnLattice;

 private:
  std::vector<std::int32_t> next_places() override { return drawn(); }
};

/// Some at random, then all that lie around the best of them.
class DrawnThenAround : public OnLattice {
 public:
  using OnLattice::OnLattice;

 private:
  std::vector<std::int32_t> next_places() override {
    if (++round_ == 1) return drawn();
    if (round_ == 2) return around(best(), 8, true);
    return {};
  }
  int round_ = 0;
};

class Descent : public OnLattice {
 public:
  using OnLattice::OnLattice;

 private:
  std::vector<std::int32_t> next_places() override {
    if (!anything_known()) return {middle()};
    const auto widest = *std::max_element(space().shape.begin(), space().shape.end());
    for (std::int32_t parts = 4; parts <= 4 * widest; parts *= 2) {
      auto places = around(best(), parts, false);
      std::erase_if(places, [&](std::int32_t k) { return known(k); });
      if (!places.empty()) return places;
    }
    return {};
  }
  std::int32_t middle() const {
    std::int32_t place = 0;
    for (const auto count : space().shape) place = place * count + count / 2;
    return place;
  }
};

/// The whole lattice, then the neighbours of the best in steps that are halved when no neighbour is left to try. Axes
/// that cannot be refined are fixed: each combination of their values is refined on its own. Places are counted in
/// steps of the lattice, so that a place is the same from whichever side it is reached.
class Narrowing : public PointStrategy {
 public:
  Narrowing(const Space& space, const StrategyOptions& options) : space_(space), splits_(options.splits) {
    for (const auto& point : space.lattice) {
      auto& part = parts_[fixed(place_of(point))];
      part.lattice.push_back(place_of(point));
      part.left = space.halvings;
    }
  }

  std::vector<Trial> next() override {
    std::vector<Trial> trials;
    for (auto& [values, part] : parts_)
      for (const auto& place : propose(part)) {
        trials.push_back({point_at(place), splits_});
        places_[trials.back().point] = place;
      }
    return trials;
  }
  void learn(const Point& point, double score) override {
    const auto& place = places_.at(point);
    parts_.at(fixed(place)).known[place] = rated(score);
  }

 private:
  using Place = std::vector<double>;
  struct Part {
    std::vector<Place> lattice;
    double step = 1;
    std::int32_t left = 0;
    std::map<Place, double> known;  // so that of equals the smallest is best
  };

  bool refinable(std::size_t axis) const { return space_.finer[axis].step > 0; }

  Place place_of(const Point& lattice_point) const {
    Place place;
    for (std::size_t axis = 0; axis < lattice_point.size(); ++axis) {
      const auto& values = space_.values[axis];
      place.push_back(
          static_cast<double>(std::find(values.begin(), values.end(), lattice_point[axis]) - values.begin()));
    }
    return place;
  }
  Point point_at(const Place& place) const {
    Point point;
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
      const auto& values = space_.values[axis];
      const bool on_lattice = place[axis] == std::floor(place[axis]) && place[axis] >= 0 &&
                              place[axis] < static_cast<double>(values.size());
      point.push_back(on_lattice ? values[static_cast<std::size_t>(place[axis])]
                                 : std::exp2(std::log2(values.front()) + place[axis] * space_.finer[axis].step));
    }
    return point;
  }
  Place fixed(const Place& place) const {
    Place result;
    for (std::size_t axis = 0; axis < place.size(); ++axis)
      if (!refinable(axis)) result.push_back(place[axis]);
    return result;
  }

  std::vector<Place> propose(Part& part) const {
    if (part.known.empty()) return part.lattice;
    auto best = part.known.begin();
    for (auto at = part.known.begin(); at != part.known.end(); ++at)
      if (at->second > best->second) best = at;
    std::vector<Place> result;
    while ((result = neighbours(part, best->first)).empty() && part.left > 0) {
      part.step /= 2;
      --part.left;
    }
    return result;
  }

  bool inside(std::size_t axis, double place) const {
    const auto& finer = space_.finer[axis];
    const double value = std::log2(space_.values[axis].front()) + place * finer.step;
    return value >= finer.low && value <= finer.high;
  }

  std::vector<Place> neighbours(const Part& part, const Place& of) const {
    std::vector<Place> result{of};
    for (std::size_t axis = 0; axis < of.size(); ++axis) {
      if (!refinable(axis)) continue;
      std::vector<Place> more;
      for (const auto& from : result)
        for (const double move : {-part.step, 0.0, part.step}) {
          if (move != 0 && !inside(axis, from[axis] + move)) continue;
          more.push_back(from);
          more.back()[axis] += move;
        }
      result = std::move(more);
    }
    std::erase_if(result, [&](const Place& place) { return part.known.contains(place); });
    return result;
  }

  const Space& space_;
  std::int32_t splits_;
  std::map<Place, Part> parts_;    // by the places of the fixed axes
  std::map<Point, Place> places_;  // of what was asked for
};

constexpr std::int64_t finalists = 3;  // of a halving: so few are compared on all splits at once

std::int64_t better_half(std::int64_t points) { return std::max(std::min(finalists, points), (points + 1) / 2); }

/// How many of all splits the points that are left are tried on next.
std::int32_t splits_after(std::int32_t reached, std::int64_t points, std::int32_t all) {
  return points <= finalists ? all : std::min(all, std::max(1, 2 * reached));
}

/// Splits that a point was tried on before are not trained again.
std::int64_t halving_trainings(std::int64_t points, std::int32_t splits) {
  std::int64_t sum = 0;
  for (std::int32_t reached = 0; reached < splits;) {
    if (reached > 0) points = better_half(points);
    const auto next = splits_after(reached, points, splits);
    sum += points * (next - reached);
    reached = next;
  }
  return sum;
}

/// All points on one split; the better half of them on two, the better half of those on four, and so on. Only those
/// that reach all splits can be chosen.
class Halving : public PointStrategy {
 public:
  Halving(const Space& space, const StrategyOptions& options) : left_(space.lattice), splits_(options.splits) {}

  std::vector<Trial> next() override {
    if (reached_ == splits_) return {};
    if (reached_ > 0) keep_better_half();
    reached_ = splits_after(reached_, std::ssize(left_), splits_);
    std::vector<Trial> trials;
    for (const auto& point : left_) trials.push_back({point, reached_});
    return trials;
  }
  void learn(const Point& point, double score) override { scores_[point] = rated(score); }

 private:
  void keep_better_half() {
    std::stable_sort(left_.begin(), left_.end(),
                     [&](const Point& a, const Point& b) { return scores_.at(a) > scores_.at(b); });
    left_.resize(static_cast<std::size_t>(better_half(std::ssize(left_))));
  }

  std::vector<Point> left_;
  std::map<Point, double> scores_;
  std::int32_t splits_;
  std::int32_t reached_ = 0;
};

}  // namespace

std::int64_t tried_points(std::int64_t points, const StrategyOptions& options) {
  switch (options.strategy) {
    case Strategy::grid:
      return options.extend ? 0 : points;
    case Strategy::random:
      return drawn_points(points, options.trials);
    case Strategy::halving:
      return points;
    default:
      return 0;
  }
}

std::int64_t trainings(std::span<const std::int64_t> points, std::span<const StrategyOptions> options) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < options.size(); ++k) {
    const auto tried = options[k].race ? 0 : tried_points(points[k], options[k]);
    if (tried == 0) return 0;
    const auto splits = options[k].splits;
    sum += options[k].strategy == Strategy::halving ? halving_trainings(tried, splits) : tried * splits;
  }
  return sum;
}

std::unique_ptr<PointStrategy> make_strategy(const Space& space, const StrategyOptions& options) {
  switch (options.strategy) {
    case Strategy::grid:
      if (options.extend && !space.finer.empty() && !space.values.empty())
        return std::make_unique<ExtendingGrid>(space, options);
      return std::make_unique<Grid>(space, options);
    case Strategy::random:
      return std::make_unique<Drawn>(space, options);
    case Strategy::refine:
      if (!space.finer.empty()) return std::make_unique<Narrowing>(space, options);
      return std::make_unique<DrawnThenAround>(space, options);
    case Strategy::descent:
      return std::make_unique<Descent>(space, options);
    case Strategy::halving:
      return std::make_unique<Halving>(space, options);
    case Strategy::automatic:
      break;
  }
  throw InternalError("a strategy was left open");
}

}  // namespace sheaf::engine

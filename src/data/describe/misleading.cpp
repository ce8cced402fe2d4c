// Finds properties of a dataset that may mislead a model. One function for each warning or note; data_findings()
// reports them in order.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <sheaf/solvers/profile.hpp>

#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/describe/near_leak.hpp"
#include "data/nominal.hpp"
#include "data/read/columns.hpp"
#include "data/read/notation.hpp"

namespace sheaf {
namespace {

using Level = Finding::Level;

/// The ends of a feature's values, and their neighbours.
struct Ends {
  double low = std::numeric_limits<double>::infinity();
  double next_low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double next_high = -std::numeric_limits<double>::infinity();
  std::int64_t lows = 0, highs = 0, count = 0;
  bool whole = true;

  void add(double value) {
    if (std::isnan(value)) return;
    ++count;
    whole = whole && value == std::floor(value);
    if (value < low) {
      next_low = low;
      low = value;
      lows = 1;
    } else if (value == low) {
      ++lows;
    } else {
      next_low = std::min(next_low, value);
    }
    if (value > high) {
      next_high = high;
      high = value;
      highs = 1;
    } else if (value == high) {
      ++highs;
    } else {
      next_high = std::max(next_high, value);
    }
  }
};

/// Results of one pass over a dense matrix.
struct Columns {
  std::vector<Ends> ends;
  std::vector<std::uint8_t> dates;       ///< of each feature: all values are dates such as 20210314
  std::vector<std::uint8_t> determines;  ///< of each feature: it alone determines the label
};

bool is_date_number(double value) {
  if (value != std::floor(value) || value < 19000101 || value > 21001231) return false;
  const auto number = static_cast<std::int64_t>(value);
  const auto month = number / 100 % 100;
  const auto day = number % 100;
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/// Whether no two classes overlap, given the lowest and the highest value of the rows of each.
bool are_apart(std::vector<std::pair<double, double>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t c = 1; c < ranges.size(); ++c)
    if (!(ranges[c - 1].second < ranges[c].first)) return false;
  return true;
}

/// The logarithm of the chance that a feature of noise has the classes apart: their orders over all orders of rows.
double log_chance(const std::vector<std::int64_t>& counts) {
  const auto rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  double chance = std::lgamma(static_cast<double>(counts.size()) + 1) - std::lgamma(static_cast<double>(rows) + 1);
  for (const auto count : counts) chance += std::lgamma(static_cast<double>(count) + 1);
  return chance;
}

/// Whether classes that are apart in a feature can't be chance; numbers are compared by their correlation.
struct LabelTest {
  explicit LabelTest(const Target& target, std::int64_t features) {
    constexpr std::size_t most_classes = 20;
    constexpr double rare = 0.001;
    if (target.empty() || target.several() || target.survival()) return;
    if (target.looks_like_classes()) {
      std::vector<std::int64_t> counts(target.class_names.size(), 0);
      for (const auto c : target.classes) ++counts[static_cast<std::size_t>(c)];
      std::erase(counts, 0);
      classes =
          counts.size() >= 2 && counts.size() <= most_classes &&
          log_chance(counts) + std::log(static_cast<double>(std::max<std::int64_t>(features, 1))) < std::log(rare);
    } else {
      constexpr std::size_t fewest_rows = 20;
      numbers = target.values.size() >= fewest_rows;
    }
  }
  bool classes = false;
  bool numbers = false;
};

/// Squared correlation of one feature with the label, gathered without its mean.
struct Correlation {
  double first = 0, sum = 0, squares = 0, products = 0;
  std::int64_t count = 0;

  void add(double value, double centred) {
    if (count++ == 0) first = value;
    const double shifted = value - first;
    sum += shifted;
    squares += shifted * shifted;
    products += shifted * centred;
  }
  bool exact(double label_squares) const {
    constexpr double nearly_one = 1 - 1e-9;
    const double spread = squares - sum * sum / static_cast<double>(count);
    return spread > 0 && label_squares > 0 && products * products > nearly_one * spread * label_squares;
  }
};

template <class T>
Columns look_at_columns(const Context& context, const Dataset<T>& dataset, const DenseMatrix<T>& x) {
  const auto size = static_cast<std::size_t>(x.columns);
  Columns found{std::vector<Ends>(size), std::vector<std::uint8_t>(size, 1), std::vector<std::uint8_t>(size, 0)};
  const auto& target = dataset.target;
  const LabelTest test(target, x.columns);
  std::vector<double> centred;
  double label_squares = 0;
  if (test.numbers) {
    const double mean =
        std::accumulate(target.values.begin(), target.values.end(), 0.0) / static_cast<double>(target.values.size());
    for (const double value : target.values) {
      centred.push_back(value - mean);
      label_squares += centred.back() * centred.back();
    }
  }
  const auto classes = test.classes ? target.class_names.size() : 0;
  constexpr std::int64_t stripe = 64;
  parallel_ranges(context, x.columns, stripe, [&](Range columns) {
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    const auto width = static_cast<std::size_t>(columns.end - columns.begin);
    std::vector<std::pair<double, double>> ranges(classes * width, {infinity, -infinity});
    std::vector<Correlation> correlations(test.numbers ? width : 0);
    std::vector<std::uint8_t> gaps(width, 0);
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        const auto value = static_cast<double>(x.values[i * x.columns + j]);
        const auto f = static_cast<std::size_t>(j);
        const auto k = static_cast<std::size_t>(j - columns.begin);
        found.ends[f].add(value);
        if (found.dates[f] != 0 && !std::isnan(value) && !is_date_number(value)) found.dates[f] = 0;
        if (std::isnan(value)) gaps[k] = 1;
        if (classes > 0) {
          auto& [low, high] =
              ranges[k * classes + static_cast<std::size_t>(target.classes[static_cast<std::size_t>(i)])];
          low = std::min(low, value);
          high = std::max(high, value);
        }
        if (test.numbers) correlations[k].add(value, centred[static_cast<std::size_t>(i)]);
      }
    for (std::size_t k = 0; k < width; ++k) {
      const auto f = static_cast<std::size_t>(columns.begin) + k;
      if (gaps[k] != 0) continue;
      if (test.numbers) found.determines[f] = correlations[k].exact(label_squares) ? 1 : 0;
      if (classes == 0) continue;
      std::vector<std::pair<double, double>> mine(ranges.begin() + static_cast<std::ptrdiff_t>(k * classes),
                                                  ranges.begin() + static_cast<std::ptrdiff_t>((k + 1) * classes));
      std::erase_if(mine, [](const auto& range) { return range.first > range.second; });  // classes without rows
      found.determines[f] = mine.size() > 1 && are_apart(std::move(mine)) ? 1 : 0;
    }
  });
  return found;
}

/// A code at one end of the values, apart from the others by more than these differ among themselves.
std::string missing_code(const Ends& ends) {
  static constexpr std::array<double, 9> codes{-9, -99, -999, -9999, -99999, 999, 9999, 99999, 999999};
  const auto is_code = [](double value) { return std::find(codes.begin(), codes.end(), value) != codes.end(); };
  if (ends.lows > 1 && is_code(ends.low) && ends.low < 0 && ends.next_low >= 0 &&
      ends.next_low - ends.low > ends.high - ends.next_low)
    return fmt::format("{:.0f}", ends.low);
  if (ends.highs > 1 && is_code(ends.high) && ends.high > 0 && std::isfinite(ends.next_high) &&
      ends.high - ends.next_high > ends.next_high - ends.low)
    return fmt::format("{:.0f}", ends.high);
  return {};
}

template <class T>
class DataFindings {
 public:
  DataFindings(const Context& context, const Dataset<T>& dataset) : context_(context), dataset_(dataset) {
    if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x); dense != nullptr && dense->rows > 1)
      columns_ = look_at_columns(context, dataset, *dense);
  }

  std::vector<Finding> all() {
    leak();
    missing_codes();
    dates();
    spellings();
    huge();
    constants();
    rare_classes();
    return std::move(found_);
  }

 private:
  /// Names of the numeric features that test(feature) is true for, with describe(feature) in brackets.
  template <class Test, class Describe>
  std::vector<std::string> names(const Test& test, const Describe& describe) const {
    std::vector<std::string> list;
    for (std::size_t f = 0; f < columns_.ends.size(); ++f)
      if (!is_nominal(dataset_, static_cast<std::int64_t>(f)) && columns_.ends[f].count > 0 && test(f)) {
        const std::string more = describe(f);
        list.push_back(dataset_.feature_name(static_cast<std::int64_t>(f)) +
                       (more.empty() ? more : fmt::format(" ({})", more)));
      }
    return list;
  }
  static std::string nothing(std::size_t) { return {}; }
  void report(Level level, const char* code, std::string message) {
    found_.push_back({level, code, std::move(message)});
  }
  static std::string features(std::size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} feature{} {}", grouped(static_cast<std::int64_t>(count)), count == 1 ? "" : "s",
                       count == 1 ? one : many);
  }

  /// All rows of each level are of one class, and a level has several rows.
  bool levels_determine(std::size_t f) const {
    constexpr std::int64_t rows_of_level = 5;
    const auto& x = std::get<DenseMatrix<T>>(dataset_.x);
    const auto& classes = dataset_.target.classes;
    const auto levels = std::ssize(dataset_.levels[f]);
    if (levels < 2 || levels * rows_of_level > x.rows) return false;
    std::vector<std::int32_t> class_of(static_cast<std::size_t>(levels), -1);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const T value = x.values[i * x.columns + static_cast<std::int64_t>(f)];
      if (std::isnan(value)) return false;
      auto& known = class_of[static_cast<std::size_t>(value)];
      const auto mine = classes[static_cast<std::size_t>(i)];
      if (known >= 0 && known != mine) return false;
      known = mine;
    }
    return *std::min_element(class_of.begin(), class_of.end()) != *std::max_element(class_of.begin(), class_of.end());
  }

  void leak() {
    auto list = names([&](std::size_t f) { return columns_.determines[f] != 0; }, nothing);
    if (LabelTest(dataset_.target, dataset_.features()).classes && !columns_.ends.empty())
      for (std::size_t f = 0; f < dataset_.levels.size(); ++f)
        if (!dataset_.levels[f].empty() && levels_determine(f))
          list.push_back(dataset_.feature_name(static_cast<std::int64_t>(f)));
    if (!list.empty())
      report(Level::warning, "leak",
             fmt::format("{}: {}; check that it is known before the label is, else leave it out (--ignore)",
                         features(list.size(), "alone determines the label", "each alone determine the label"),
                         some_names(list)));
    else if (const auto near = columns_.ends.empty() ? std::nullopt : find_near_leak(context_, dataset_))
      report(Level::warning, "leak", near_leak_message(dataset_.feature_name(*near)));
  }

  void missing_codes() {
    const auto code = [&](std::size_t f) { return missing_code(columns_.ends[f]); };
    const auto list = names([&](std::size_t f) { return !code(f).empty(); }, code);
    if (!list.empty())
      report(Level::warning, "missing-codes",
             fmt::format("{}: {}; if so, say --missing-codes with that value, and fill in: --impute median",
                         features(list.size(), "has a value that may stand for a missing one",
                                  "have a value that may stand for a missing one"),
                         some_names(list)));
  }

  void dates() {
    const auto list = names(
        [&](std::size_t f) { return columns_.dates[f] != 0 && columns_.ends[f].low < columns_.ends[f].high; }, nothing);
    if (!list.empty())
      report(Level::warning, "dates",
             fmt::format("{}, such as 20210314: {}; the differences of such numbers mean nothing, so leave them out "
                         "(--ignore) or write the time that has passed",
                         features(list.size(), "holds dates as numbers", "hold dates as numbers"), some_names(list)));
  }

  /// Names that are one without letter case and blanks: "TRUE / True".
  static std::vector<std::string> alike(const std::vector<std::string>& names) {
    std::map<std::string, std::string> seen;
    std::vector<std::string> list;
    for (const auto& name : names) {
      const auto [at, fresh] = seen.try_emplace(lower_case(trimmed(name)), name);
      if (!fresh) list.push_back(fmt::format("'{}' / '{}'", at->second, name));
    }
    return list;
  }
  static bool has_no_break_space(const std::string& name) {
    return name.find("\xC2\xA0") != std::string::npos || name.find("\xE2\x80\xAF") != std::string::npos;
  }

  void spellings() {
    const auto look = [&](const std::vector<std::string>& names, const std::string& what) {
      if (const auto list = alike(names); !list.empty())
        report(Level::warning, "letter-case",
               fmt::format("{} differ in letter case or blanks only, and count as different ones: {}; write each in "
                           "one way",
                           what, some_names(list)));
      else if (std::any_of(names.begin(), names.end(), has_no_break_space))
        report(
            Level::warning, "no-break-spaces",
            fmt::format("{} hold no-break spaces, so that they differ from what they look like; replace them", what));
    };
    if (dataset_.target.looks_like_classes()) look(dataset_.target.class_names, "classes");
    for (std::size_t f = 0; f < dataset_.levels.size(); ++f)
      look(dataset_.levels[f], fmt::format("levels of {}", dataset_.feature_name(static_cast<std::int64_t>(f))));
    if (std::any_of(dataset_.feature_names.begin(), dataset_.feature_names.end(), has_no_break_space))
      report(Level::warning, "no-break-spaces",
             "names of features hold no-break spaces, so that they differ from what they look like; replace them");
  }

  void huge() {
    const double most = std::sqrt(static_cast<double>(std::numeric_limits<T>::max()));
    const auto list =
        names([&](std::size_t f) { return std::max(-columns_.ends[f].low, columns_.ends[f].high) > most; },
              [&](std::size_t f) {
                return fmt::format("{:.3g}", -columns_.ends[f].low > columns_.ends[f].high ? columns_.ends[f].low
                                                                                           : columns_.ends[f].high);
              });
    if (!list.empty())
      report(
          Level::warning, "huge-values",
          fmt::format("{}: {}; say --missing-codes if it stands for a missing value, else use another unit",
                      features(list.size(), "has values whose squares overflow", "have values whose squares overflow"),
                      some_names(list)));
  }

  void constants() {
    const auto list = names([&](std::size_t f) { return columns_.ends[f].low == columns_.ends[f].high; }, nothing);
    if (!list.empty())
      report(Level::note, "constant-features",
             fmt::format("{}, and nothing can be learnt from {}: {}",
                         features(list.size(), "never changes", "never change"), list.size() == 1 ? "it" : "them",
                         some_names(list)));
  }

  /// Classes with at most a tenth of the rows of the largest. Several whole numbers may be counts.
  void rare_classes() {
    const auto& target = dataset_.target;
    if (target.classes.empty() || !target.looks_like_classes()) return;
    if (target.class_names.size() > 2 && !target.values.empty()) return;
    std::vector<std::int64_t> counts(target.class_names.size(), 0);
    for (const auto c : target.classes) ++counts[static_cast<std::size_t>(c)];
    const auto largest = *std::max_element(counts.begin(), counts.end());
    std::vector<std::string> list;
    for (std::size_t c = 0; c < counts.size(); ++c)
      if (counts[c] > 0 && 10 * counts[c] <= largest)
        list.push_back(
            fmt::format("{} ({} of {} rows)", target.class_names[c], grouped(counts[c]), grouped(dataset_.rows())));
    if (!list.empty())
      report(
          Level::note, "rare-classes",
          fmt::format("{} rare, and a model may never predict {}: {}; --class-weight balanced lets all classes count "
                      "as much",
                      list.size() == 1 ? "1 class is" : grouped(std::ssize(list)) + " classes are",
                      list.size() == 1 ? "it" : "them", some_names(list)));
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  Columns columns_;
  std::vector<Finding> found_;
};

}  // namespace

template <class T>
std::vector<Finding> data_findings(const Context& context, const Dataset<T>& dataset) {
  return DataFindings<T>(context, dataset).all();
}

template std::vector<Finding> data_findings(const Context&, const Dataset<float>&);
template std::vector<Finding> data_findings(const Context&, const Dataset<double>&);

}  // namespace sheaf

// The parameters that a search varies, and the results of each model that it trained.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/scores.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/task_fit.hpp>

namespace sheaf {

/// The values of one parameter that a search tries: numbers or, of a choice, names.
struct TriedValues {
  std::vector<double> numbers;
  std::vector<std::string> names;

  TriedValues() = default;
  TriedValues(std::initializer_list<double> values) : numbers(values) {}
  TriedValues(std::initializer_list<const char*> values) : names(values.begin(), values.end()) {}
  TriedValues(std::vector<double> values) : numbers(std::move(values)) {}  // NOLINT(google-explicit-constructor): a
  TriedValues(std::vector<std::string> values)
      : names(std::move(values)) {}  // NOLINT(google-explicit-constructor): list

  bool empty() const { return numbers.empty() && names.empty(); }
};

/// How the points to try are chosen.
enum class Strategy : std::uint8_t {
  automatic,  ///< refine if the space was found from the data, else grid
  grid,       ///< all
  random,     ///< some, drawn at random
  refine,     ///< a coarse grid, or points at random if the grid is given; then ever closer around the best
  descent,    ///< from the middle to better neighbours, in ever smaller steps
  halving,    ///< all on one split; the better half on two, the better half of those on four ...
};
std::string_view to_string(Strategy strategy);

/// One of several models that a search compares; see search.hpp.
struct Candidate;

/// The options of a model and, for some of their parameters, several values to try in place of one. Parameters that
/// must be searched and are not named here are found from the data.
struct SearchSpace {
  ModelOptions options;
  std::map<std::string, TriedValues, std::less<>> tried;  ///< by the name of the parameter
  /// Several models, of which the best is chosen. If there are any, `options` and `tried` are not used.
  std::vector<Candidate> candidates;
  /// decide() chooses the candidates by the data.
  bool choose_candidates = false;
  std::vector<std::string> notes;  ///< by decide(): choices that users may not expect, and why

  SearchSpace();
  SearchSpace(ModelOptions model);  // NOLINT(google-explicit-constructor): a space with nothing to vary
  template <FamilyOptions Options>
  SearchSpace(Options model) : SearchSpace(ModelOptions(std::move(model))) {}  // NOLINT(google-explicit-constructor)
  SearchSpace(const SearchSpace& other);
  SearchSpace(SearchSpace&& other) noexcept;
  SearchSpace& operator=(const SearchSpace& other);
  SearchSpace& operator=(SearchSpace&& other) noexcept;
  ~SearchSpace();

  /// space["cost"] = {0.1, 1, 10}
  TriedValues& operator[](std::string_view parameter);
  /// The numbers or names that are tried; none: nothing is.
  const std::vector<double>& numbers(std::string_view parameter) const;
  const std::vector<std::string>& names(std::string_view parameter) const;
  template <class Options>
  Options& get() {
    return options.get<Options>();
  }
  template <class Options>
  const Options& get() const {
    return options.get<Options>();
  }
};

/// Sets one parameter from text: a list of values to try of one that can be searched, which are added to those that are
/// there, else a value of the options. Errors as for ModelOptions.
void set_parameter(SearchSpace& space, std::string_view name, std::string_view text);

/// One parameter that a search varies.
struct SearchAxis {
  std::string name;   ///< of the parameter: cost, gamma, alpha ...
  std::string title;  ///< for people: C, gamma ...
  bool descending = false;
  bool open_ended = true;  ///< values beyond those tried may be better
  /// For a choice among names: the value n stands for names[n - 1]. Empty: values are numbers.
  std::vector<std::string> names = {};

  /// The value of a point whose model does not have this parameter.
  static constexpr double absent = std::numeric_limits<double>::infinity();
  /// A value as people read it; nothing if it is absent.
  std::string text(double value) const;
};
/// One value for each axis.
using Point = std::vector<double>;

/// The weights of one decision value, if they are kept.
struct FeatureWeights {
  double intercept = 0;
  std::vector<std::int32_t> features;  ///< those with a weight, ascending
  std::vector<double> weights;
};

/// One step of a path of weights: one model for each decision value.
struct PathStep {
  double alpha = 0;
  std::vector<FeatureWeights> weights;
};

/// The place of a model in its search, for messages.
struct ModelPlace {
  struct Setting {
    std::string parameter;
    double value = 0;
    std::string name = {};  ///< of a choice among names, instead of the value
  };
  std::int32_t level = 0;         ///< 0: the search over all rows; k: the one without outer fold k
  std::int32_t split = 0;         ///< of its level, from 0; -1: the rows of that outer fold
  std::vector<Setting> settings;  ///< the point
};

/// One point on one split.
struct ModelScores : Scores {
  std::vector<TaskFit> fits;             ///< one a decision value; SVMs: one for all
  double size = -1;                      ///< support vectors, or weights that are not 0; -1: not counted
  std::vector<FeatureWeights> weights;   ///< one a decision value; elastic nets of outer resamples only
  std::optional<ModelPlace> place = {};  ///< only of those that a SearchLog keeps

  /// Keeps the numbers alone.
  void drop_curves();
};

/// Unit of the size of a model.
struct SizeWords {
  std::string words = "weights that are not 0";
  std::string key = "nonzeros";    ///< in JSON
  std::string column = "weights";  ///< above a column of a table
  std::string advice = {};         ///< a sentence on the meaning of large ones; may be empty
};

}  // namespace sheaf

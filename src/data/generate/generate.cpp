#include <sheaf/generate.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/budget.hpp"
#include "data/generate/kinds.hpp"

namespace sheaf {
namespace generating {

std::vector<std::int32_t> permutation(Random random, std::int64_t count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(std::span(order));
  return order;
}

std::vector<std::int64_t> choose(Random random, std::int64_t from, std::int64_t count) {
  const auto order = permutation(random, from);
  std::vector<std::int64_t> chosen(order.begin(), order.begin() + count);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::int32_t> balanced_classes(const Plan& plan) {
  std::vector<std::int32_t> classes(static_cast<std::size_t>(plan.rows));
  for (std::int64_t i = 0; i < plan.rows; ++i)
    classes[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % plan.classes);
  stream(plan, Purpose::labels).shuffle(std::span(classes));
  return classes;
}

namespace {

/// The number a label stands for, as a reader of the file would find: a leading + is allowed.
bool parse_number(std::string_view text, double& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

void flip_classes(const Plan& plan, std::vector<std::int32_t>& classes) {
  if (plan.noise == 0) return;
  auto random = stream(plan, Purpose::flips);
  for (auto& c : classes) {
    if (random.uniform() >= plan.noise) continue;
    const auto others = static_cast<std::uint64_t>(plan.classes) - 1;
    c = (c + 1 + static_cast<std::int32_t>(random.below(others))) % plan.classes;
  }
}

/// Values of the labels if every name is a number, else none.
std::vector<double> numeric_labels(const std::vector<std::int32_t>& classes, const std::vector<std::string>& names) {
  std::vector<double> numbers(names.size());
  for (std::size_t c = 0; c < names.size(); ++c)
    if (!parse_number(names[c], numbers[c])) return {};
  std::vector<double> values;
  values.reserve(classes.size());
  for (const auto c : classes) values.push_back(numbers[static_cast<std::size_t>(c)]);
  return values;
}

}  // namespace

Target label(const Plan& plan, std::vector<std::int32_t> classes, const std::vector<std::string>& names) {
  flip_classes(plan, classes);
  Target target;
  target.values = numeric_labels(classes, names);
  std::vector<std::int32_t> number(names.size(), -1);  // by first appearance, as a reader would number them
  for (auto& c : classes) {
    auto& n = number[static_cast<std::size_t>(c)];
    if (n < 0) {
      n = static_cast<std::int32_t>(target.class_names.size());
      target.class_names.push_back(names[static_cast<std::size_t>(c)]);
    }
    c = n;
  }
  target.classes = std::move(classes);
  target.name = "label";
  target.order_classes();
  return target;
}

std::vector<std::string> spell_classes(const Plan& plan, std::string_view first, std::string_view second,
                                       std::string_view prefix) {
  if (plan.classes == 2) return {std::string(first), std::string(second)};
  std::vector<std::string> names;
  for (int c = 1; c <= plan.classes; ++c) names.push_back(fmt::format("{}{}", prefix, c));
  return names;
}

std::vector<std::string> numbered_names(std::string_view prefix, std::int64_t count) {
  const std::size_t width = std::max<std::size_t>(5, std::to_string(count).size());
  std::vector<std::string> names(static_cast<std::size_t>(count));
  for (std::size_t j = 0; j < names.size(); ++j) names[j] = fmt::format("{}{:0{}}", prefix, j + 1, width);
  return names;
}

std::vector<Marker> make_markers(const Plan& plan, double strength) {
  std::vector<Marker> markers;
  for (std::int64_t m = 0; m < plan.informative; ++m) markers.emplace_back(plan, m, strength);
  return markers;
}

std::vector<double> marker_weights(const Plan& plan, const std::vector<Marker>& markers) {
  std::vector<double> weights;
  weights.reserve(markers.size());
  for (const auto& marker : markers) weights.push_back(marker.weight(plan));
  return weights;
}

std::vector<std::int32_t> informative_numbers(const Plan& plan, const std::vector<std::int64_t>& informative) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(plan.features), -1);
  for (std::size_t m = 0; m < informative.size(); ++m)
    numbers[static_cast<std::size_t>(informative[m])] = static_cast<std::int32_t>(m);
  return numbers;
}

}  // namespace generating

namespace {

using generating::Plan;

constexpr std::array<Generator, 5> kinds{{
    {"microbes", "sparse counts of microbial taxa in healthy and sick samples", 400, 20000, 40, 200, 0},
    {"classification", "dense Gaussian clusters at the corners of a cube, some features mixed or pure noise", 10000, 28,
     10, 0, 0.01},
    {"text", "sparse documents as word weights of length 1, words as frequent as in language", 20242, 47236, 2000, 74,
     0.02},
    {"regression", "dense independent features, a linear answer and noise", 1000, 100, 10, 0, 1},
    {"genes", "dense log-intensities of correlated genes, far more genes than samples", 100, 20000, 40, 0, 0},
}};

const Generator& find_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  fail_unknown("kind of dataset", name, names);
}

void check_size(const char* what, std::int64_t size) {
  if (size < 0 || size > std::numeric_limits<std::int32_t>::max())
    fail_usage("{} must be between 1 and {}, not {}", what, std::numeric_limits<std::int32_t>::max(), size);
}

void check_classes(const Generator& kind, const Plan& plan) {
  if (kind.name == "regression") return;
  if (plan.classes < 2) fail_usage("classes must be at least 2, not {}", plan.classes);
  if (plan.classes > plan.rows)
    fail_usage("{} classes need at least as many rows, not {}; ask for more rows", plan.classes, plan.rows);
}

void check_strengths(const Generator& kind, const Plan& plan) {
  if (!(plan.effect >= 0) || !std::isfinite(plan.effect))
    fail_usage("effect must be a number from 0 up, not {}", plan.effect);
  const bool fraction = kind.name != "regression";
  if (!(plan.noise >= 0) || !std::isfinite(plan.noise) || (fraction && plan.noise > 1))
    fail_usage("noise must be {}, not {}", fraction ? "a fraction of the labels, 0 to 1" : "a number from 0 up",
               plan.noise);
}

void plan_features(const Generator& kind, const GenerateOptions& options, Plan& plan) {
  if (options.informative < -1 || options.informative > plan.features)
    fail_usage("informative must be between 0 and the {} features, not {}", plan.features, options.informative);
  plan.informative = options.informative >= 0 ? options.informative : std::min(kind.informative, plan.features);
  if (kind.name != "classification") {
    if (options.redundant > 0) fail_usage("only the kind classification has redundant features, not {}", kind.name);
    return;
  }
  const std::int64_t rest = plan.features - plan.informative;
  if (options.redundant < -1 || options.redundant > rest)
    fail_usage("redundant must be between 0 and the {} features that are not informative, not {}", rest,
               options.redundant);
  plan.redundant = options.redundant >= 0 ? options.redundant : std::min(plan.informative / 2, rest);
}

/// No feature is in more than half of the rows, so a sparse dataset is at most half full.
void plan_nonzeros(const Generator& kind, const GenerateOptions& options, Plan& plan) {
  if (kind.row_nonzeros == 0) {
    if (options.nonzeros != 0)
      fail_usage("datasets of the kind {} are dense; leave the number of non-zeros out", kind.name);
    return;
  }
  const double most = static_cast<double>(plan.features) / 2;
  plan.row_nonzeros = std::min(static_cast<double>(kind.row_nonzeros), std::max(most / 2, 0.5));
  if (options.nonzeros == 0) return;
  plan.row_nonzeros = static_cast<double>(options.nonzeros) / static_cast<double>(plan.rows);
  if (plan.row_nonzeros < 0.5 || plan.row_nonzeros > most)
    fail_usage("{} rows of {} features can have between {} and {} non-zeros, not {}", plan.rows, plan.features,
               (plan.rows + 1) / 2, static_cast<std::int64_t>(most * static_cast<double>(plan.rows)), options.nonzeros);
}

void check_memory(const Context& context, const Generator& kind, const Plan& plan, std::int64_t element_bytes) {
  const std::int64_t budget = cpu_budget(context);
  const double need = kind.row_nonzeros == 0 ? dense_bytes(plan.rows, plan.features, element_bytes)
                                             // packed, and in parts that are packed
                                             : static_cast<double>(plan.rows) * plan.row_nonzeros * 2 *
                                                   static_cast<double>(element_bytes + 4);
  if (need > static_cast<double>(budget))
    fail_usage("{} x {} values take {:.1f} GiB, and the memory budget is {}; ask for fewer rows or features", plan.rows,
               plan.features, need / 0x1p30, format_bytes(budget));
}

Plan make_plan(const Context& context, const Generator& kind, const GenerateOptions& options) {
  check_size("rows", options.rows);
  check_size("features", options.features);
  Plan plan;
  plan.rows = options.rows > 0 ? options.rows : kind.rows;
  plan.features = options.features > 0 ? options.features : kind.features;
  plan.classes = options.classes;
  plan.noise = options.noise == -1 ? kind.noise : options.noise;
  plan.effect = options.effect;
  plan.seed = context.seed();
  plan.context = &context;
  check_classes(kind, plan);
  check_strengths(kind, plan);
  plan_features(kind, options, plan);
  plan_nonzeros(kind, options, plan);
  return plan;
}

template <class T>
Generated<T> make(std::string_view kind, const Plan& plan) {
  if (kind == "microbes") return generating::make_microbes<T>(plan);
  if (kind == "classification") return generating::make_classification<T>(plan);
  if (kind == "text") return generating::make_text<T>(plan);
  if (kind == "regression") return generating::make_regression<T>(plan);
  require(kind == "genes", "a kind of dataset has no generator");
  return generating::make_genes<T>(plan);
}

}  // namespace

std::span<const Generator> generators() { return kinds; }

template <class T>
Generated<T> generate(const Context& context, const GenerateOptions& options) {
  const auto& kind = find_kind(options.kind);
  const auto plan = make_plan(context, kind, options);
  check_memory(context, kind, plan, sizeof(T));
  auto result = make<T>(kind.name, plan);
  result.dataset.source = fmt::format("generated {}, seed {}", kind.name, plan.seed);
  return result;
}

template Generated<float> generate(const Context&, const GenerateOptions&);
template Generated<double> generate(const Context&, const GenerateOptions&);

}  // namespace sheaf

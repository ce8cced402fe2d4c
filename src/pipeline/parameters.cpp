#include <sheaf/selection.hpp>

#include "core/text.hpp"
#include "data/parameter_rows.hpp"
#include "pipeline/learn.hpp"
#include "pipeline/select_by_model.hpp"

namespace sheaf {
namespace {

using O = PipelineOptions;

const Choices<Imputation>& imputations() {
  static const Choices<Imputation> rows{{"none", Imputation::none},
                                        {"mean", Imputation::mean},
                                        {"median", Imputation::median},
                                        {"most-frequent", Imputation::most_frequent},
                                        {"constant", Imputation::constant}};
  return rows;
}

const Choices<PipelineStage>& stages() {
  using enum PipelineStage;
  static const Choices<PipelineStage> rows{{"impute", impute}, {"encode", encode}, {"transform", transform},
                                           {"filter", filter}, {"scale", scale},   {"select", select}};
  return rows;
}

Choices<RowTransform> transforms() {
  Choices<RowTransform> rows;
  for (int k = 0; k <= static_cast<int>(RowTransform::rank); ++k)
    rows.emplace_back(to_string(static_cast<RowTransform>(k)), static_cast<RowTransform>(k));
  return rows;
}

RowTransform find_transform(std::string_view text, const std::vector<std::string>& names) {
  for (const auto& [name, value] : transforms())
    if (name == text) return value;
  fail_unknown("transform", text, names);
}

/// NAME, NAME:FEATURE,FEATURE..., or several of them: a part with a known name before a colon begins the next.
Parameter<O> transform_row() {
  Parameter<O> row{"transform",
                   "NAME[:COLUMNS]",
                   "transform of each row: log1p, sqrt, share (of the row's total), clr (centred log-ratio), norm, "
                   "rank; of the columns named behind a colon (log1p:a,b), else of all numbers; may be given several "
                   "times",
                   {},
                   {},
                   {}};
  for (const auto& [name, value] : transforms()) row.choices.push_back(name);
  row.set = [names = row.choices](O& options, std::string_view text) {
    bool named = false;  // features of the last transform follow
    for (const auto part : split_text(text, ',')) {
      const auto colon = part.find(':');
      const auto name = part.substr(0, colon);
      const bool begins = colon != std::string_view::npos && std::find(names.begin(), names.end(), name) != names.end();
      if (named && !begins) {
        options.transforms.back().features.emplace_back(part);
        continue;
      }
      options.transforms.emplace_back(find_transform(name, names));
      const auto first = begins ? part.substr(colon + 1) : std::string_view();
      named = !first.empty();
      if (named) options.transforms.back().features.emplace_back(first);
    }
  };
  row.get = [](const O& options) {
    std::vector<std::string> parts;
    bool named = false;
    for (const auto& one : options.transforms) {
      const auto* colon = named || !one.features.empty() ? ":" : "";
      parts.push_back(fmt::format("{}{}{}", to_string(one.transform), colon, fmt::join(one.features, ",")));
      named = !one.features.empty();
    }
    return fmt::format("{}", fmt::join(parts, ","));
  };
  row.type = ParameterType::texts;
  return row;
}

/// Names from a table, separated by commas.
template <class Value>
Parameter<O> names_row(const std::string& name, std::vector<Value> O::*member, Choices<Value> known, std::string help) {
  Parameter<O> row{name, "NAMES", std::move(help), {}, {}, {}};
  for (const auto& [text, value] : known) row.choices.push_back(text);
  row.set = [name, member, known, names = row.choices](O& options, std::string_view text) {
    for (const auto part : split_text(text, ',')) {
      const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == part; });
      if (found == known.end()) fail_unknown(name, part, names);
      (options.*member).push_back(found->second);
    }
  };
  row.get = [member, known](const O& options) {
    std::vector<std::string> names;
    for (const auto value : options.*member) names.push_back(name_of(known, value));
    return fmt::format("{}", fmt::join(names, ","));
  };
  row.type = ParameterType::texts;
  return row;
}

/// A criterion of select() or a model.
std::string find_selector(std::string_view name) {
  std::vector<std::string> known(pipeline::selecting_models().begin(), pipeline::selecting_models().end());
  for (const auto& criterion : criteria()) known.emplace_back(criterion.name);
  if (std::find(known.begin(), known.end(), name) == known.end()) fail_unknown("criterion", name, known);
  return std::string(name);
}

/// CRITERION:COUNT[,COUNT...].
Parameter<O> select_row() {
  Parameter<O> row{
      "select",
      "CRITERION:N,...",
      "select so many features by a criterion of sheaf select or by a model (linear, elastic-net, lasso); of "
      "several numbers the best",
      "all features",
      {},
      {}};
  row.set = [](O& options, std::string_view text) {
    const auto colon = text.find(':');
    const auto criterion = text.substr(0, colon);
    options.select = find_selector(criterion);
    if (colon == std::string_view::npos)
      fail_usage("select takes a criterion and how many features, such as jmi:10 or jmi:10,20,50, not '{}'", text);
    options.counts.clear();
    for (const auto part : split_text(text.substr(colon + 1), ','))
      options.counts.push_back(
          parse_number<std::int64_t>("select", part, {1, std::numeric_limits<std::int32_t>::max()}));
    std::sort(options.counts.begin(), options.counts.end());
    options.counts.erase(std::unique(options.counts.begin(), options.counts.end()), options.counts.end());
  };
  row.get = [](const O& options) {
    return options.select.empty() ? std::string()
                                  : fmt::format("{}:{}", options.select, fmt::join(options.counts, ","));
  };
  return row;
}

/// A row of the options of binning.
Parameter<O> binning_row(const Parameter<BinningOptions>& of) {
  Parameter<O> row{of.name, of.value, "select: " + of.help, of.default_text, of.choices, {}};
  row.set = [set = of.set](O& options, std::string_view text) { set(options.binning, text); };
  row.get = [get = of.get](const O& options) { return get(options.binning); };
  row.type = of.type;
  row.low = of.low;
  row.high = of.high;
  return row;
}

Parameter<O> select_share_row() {
  auto row =
      positive_row("select-share", &O::select_share,
                   "fit: select on this share of the rows and train on the others, so that p-values hold", {}, 1);
  row.use = ParameterUse::fit;
  return row;
}

/// All stages once.
Parameter<O> order_row() {
  auto row = names_row<PipelineStage>("pipeline", &O::order, stages(),
                                      "the order of the steps: impute,encode,transform,filter,scale,select");
  row.set = [set = row.set](O& options, std::string_view text) {
    options.order.clear();
    set(options, text);
    for (const auto& [name, stage] : stages())
      if (std::count(options.order.begin(), options.order.end(), stage) != 1)
        fail_usage("pipeline takes each of its steps once; {} is given {}", name,
                   counted(std::count(options.order.begin(), options.order.end(), stage), "time"));
  };
  return row;
}

}  // namespace

std::string_view to_string(Imputation imputation) {
  for (const auto& [name, value] : imputations())
    if (value == imputation) return name;
  return {};
}

namespace {

/// A row whose value may be left to the data, with the names auto and none.
template <class Set>
Parameter<O> chosen_row(Parameter<O> row, bool O::*choose, Set set_none) {
  row.choices.insert(row.choices.begin(), {"auto", "none"});
  row.set = [set = row.set, choose, set_none](O& options, std::string_view text) {
    options.*choose = text == "auto";
    if (text == "auto" || text == "none")
      set_none(options);
    else
      set(options, text);
  };
  row.get = [get = row.get, choose](const O& options) {
    auto text = get(options);
    if (text.empty() || text == "none") text = options.*choose ? "auto" : "none";
    return text;
  };
  return row;
}

Parameter<O> impute_row() {
  auto row = choice_row<O, Imputation>("impute", &O::impute, imputations(),
                                       "value for missing values, learnt on the training rows; auto: the "
                                       "median, if values are missing");
  std::erase(row.choices, "none");
  return chosen_row(std::move(row), &O::choose_impute, [](O& options) { options.impute = Imputation::none; });
}

Parameter<O> scale_row() {
  auto row =
      open_choice_row<O, ScaleMethod>("scale", &O::scale,
                                      {{"standard", ScaleMethod::standard},
                                       {"maxabs", ScaleMethod::max_abs},
                                       {"01", ScaleMethod::unit_interval},
                                       {"-11", ScaleMethod::symmetric_interval},
                                       {"robust", ScaleMethod::robust}},
                                      "scale each feature, learnt on the rows that are trained on; auto: standard for "
                                      "SVMs, elastic nets and neighbours of dense tables, else none",
                                      "");
  return chosen_row(std::move(row), &O::choose_scale, [](O& options) { options.scale.reset(); });
}

std::vector<Parameter<O>> all_rows() {
  std::vector<Parameter<O>> rows{
      impute_row(),
      number_row("fill", &O::fill, {}, "the value of --impute constant"),
      yes_no_row("indicate-missing", &O::indicate_missing,
                 "one more feature for each that has missing values: 1 if it is missing"),
      number_row("min-level-rows", &O::min_level_rows, {1, std::numeric_limits<std::int32_t>::max()},
                 "levels of nominal features with fewer rows share one feature"),
      transform_row(),
      number_row("min-prevalence", &O::min_prevalence, {0, 1},
                 "leave out features that are not 0 in a smaller share of the rows"),
      number_row("min-variance", &O::min_variance, {0, std::numeric_limits<double>::max()},
                 "leave out features of a smaller variance"),
      scale_row(),
      select_row(),
  };
  for (const auto& row : parameters<BinningOptions>()) rows.push_back(binning_row(row));
  rows.push_back(select_share_row());
  rows.push_back(order_row());
  return rows;
}

}  // namespace

template <>
const std::vector<Parameter<PipelineOptions>>& parameters() {
  static const auto rows = all_rows();
  return rows;
}

}  // namespace sheaf

// The table of families. A new family adds its row here; no other code changes.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "family/family.hpp"

namespace sheaf {

const Family& linear_family();
const Family& svm_family();
const Family& net_family();
const Family& glm_family();
const Family& neighbors_family();
const Family& stack_family();

namespace {

struct Table {
  std::vector<const Family*> families;
  std::vector<ModelKind> kinds;
  std::map<const Family*, std::vector<Parameter<ModelOptions>>> parameters;

  Table() {
    for (const auto* family :
         {&linear_family(), &svm_family(), &net_family(), &glm_family(), &neighbors_family(), &stack_family()})
      add(*family);
  }
  void add(const Family& family) {
    families.push_back(&family);
    for (auto& kind : family.kinds()) {
      kind.family = family.name();
      kinds.push_back(std::move(kind));
    }
    parameters.emplace(&family, family.parameters());
  }
};

Table& table() {
  static Table rows;
  return rows;
}

}  // namespace

std::span<const Family* const> families() { return table().families; }
void add_family(const Family& family) { table().add(family); }

void check_rows_shared(const Context& context, const ModelOptions& options) {
  if (context.team() == nullptr || options.family().shares_rows(options)) return;
  fail_usage(
      "{} processes were started together to share the rows of each model, and {} is trained by one process; rows are "
      "shared by linear models (Newton's method) and generalised linear models (not Cox, not saga)",
      context.team()->size(), options.kind());
}

const Family* find_family(std::string_view name) {
  for (const auto* family : families())
    if (family->name() == name) return family;
  return nullptr;
}

std::string kinds_with_likelihood() {
  std::vector<std::string> names;
  for (const auto* family : families())
    if (family->has_likelihood())
      for (const auto& kind : family->kinds()) names.push_back(kind.name);
  return join_names(names);
}

std::int64_t Family::points(const SearchSpace& space) const {
  std::int64_t points = 1;
  for (const auto& [name, tried] : space.tried)
    points *= std::max<std::int64_t>(1, std::ssize(tried.numbers) + std::ssize(tried.names));
  return points;
}

std::unique_ptr<TrainedModel> Family::read_peer(ModelReader& /*reader*/) const {
  throw InternalError("a family without a program that it stands in for was asked to read that program's file");
}

std::unique_ptr<TrainedModel> TrainedModel::with_features(std::span<const std::int64_t> /*features*/) const {
  throw InternalError("some features of a model without weights were asked for");
}

std::unique_ptr<TrainedModel> TrainedModel::without_feature_weights(const Context& /*context*/) const {
  return nullptr;
}

namespace {

[[noreturn]] void fail_without_rows(const TrainedModel& model) {
  fail_usage("a model of the family {} keeps no rows that decide by themselves; models of neighbours do",
             model.family());
}

[[noreturn]] void fail_without_likelihood(const TrainedModel& model) {
  fail_usage("a model of the family {} has no likelihood, nor a covariance of weights", model.family());
}

}  // namespace

WeightCovariance TrainedModel::covariance() const { fail_without_likelihood(*this); }
LikelihoodFit TrainedModel::likelihood() const { fail_without_likelihood(*this); }
LikelihoodRatioTest TrainedModel::compare_likelihood(const TrainedModel& /*other*/) const {
  fail_without_likelihood(*this);
}

std::vector<std::vector<DecidingRow>> TrainedModel::deciding_rows(const Context& /*context*/,
                                                                  const Dataset<float>& /*dataset*/,
                                                                  std::int64_t /*most*/) const {
  fail_without_rows(*this);
}
std::vector<std::vector<DecidingRow>> TrainedModel::deciding_rows(const Context& /*context*/,
                                                                  const Dataset<double>& /*dataset*/,
                                                                  std::int64_t /*most*/) const {
  fail_without_rows(*this);
}

std::vector<std::int64_t> Coefficients::largest(std::int32_t column, std::size_t most) const {
  std::vector<std::int64_t> order;
  for (std::int64_t j = 0; j < std::ssize(feature_names); ++j)
    if (weight(j, column) != 0) order.push_back(j);
  const auto size = [&](std::int64_t j) { return std::abs(weight(j, column)); };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](std::int64_t a, std::int64_t b) { return size(a) > size(b) || (size(a) == size(b) && a < b); });
  order.erase(end, order.end());
  return order;
}

std::string_view program_of(ModelFile format) {
  return format == ModelFile::liblinear ? "LIBLINEAR" : format == ModelFile::libsvm ? "LIBSVM" : "Sheaf";
}

void refuse_offsets(std::span<const double> offsets) {
  if (!offsets.empty()) fail_usage("offsets are for generalised linear models and elastic nets of counts and classes");
}

const std::vector<ModelKind>& model_kinds() { return table().kinds; }

const std::vector<Parameter<ModelOptions>>& parameters_of(const ModelOptions& options) {
  return table().parameters.at(&options.family());
}

const ModelKind& find_model_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& kind : model_kinds()) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  fail_unknown("model", name, known);
}

}  // namespace sheaf

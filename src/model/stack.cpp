// Stacks as models of any family. Their lines of a model file are
//
//     members 2
//     member 0.7 svm                  weight and name
//     family svm
//     ...                             a model as in a file of its own, from its pipeline on
//     member 0.3 linear
//     family linear
//     ...
#include <sheaf/solvers/stack.hpp>

#include <algorithm>

#include "core/fail.hpp"
#include "family/family.hpp"
#include "model/lines.hpp"

namespace sheaf {
namespace {

/// The reason why a member does not fit the first one; empty if it does.
std::string wrong_member(const Model& first, const Model& member) {
  if (member.family() == "stack") return "a stack is a member of another one";
  if (member.class_names() != first.class_names()) return "the members have different classes";
  if (member.target_names() != first.target_names()) return "the members have different targets";
  if (!member.is_regression() && !member.has_probabilities()) return "a member has no probabilities";
  const auto a = first.known_columns();
  const auto b = member.known_columns();
  if (a.count != b.count || a.features != b.features) return "the members have different features";
  return {};
}

void write_members(ModelWriter& file, const StackModel& model) {
  file.count("members", std::ssize(model.members), any_count);
  for (const auto& member : model.members) {
    require_finite(member.weight);
    file.text() +=
        fmt::format("member {} {}\nfamily {}\n", member.weight, escape_line(member.name), member.model.family());
    write_model_lines(file, member.model);
  }
}

StackModel read_members(ModelReader& reader) {
  std::vector<std::string> known;
  for (const auto* family : families())
    if (family->name() != "stack") known.emplace_back(family->name());
  std::int64_t count = 0;
  reader.count("members", count, [](std::int64_t members) { return members > 0 ? "" : "a stack has members"; });
  reader.check_room(count);
  std::vector<StackMember> members;
  for (std::int64_t k = 0; k < count; ++k) {
    StackMember member;
    reader.keyword("member");
    reader.value(member.weight, "a weight, 0 or more", 0);
    reader.name(member.name, "the name of a member");
    reader.end_line();
    std::size_t family = 0;
    choice_line(reader, "family", family, known);
    member.model = read_model_lines(reader, known[family]);
    if (const auto wrong = wrong_member(members.empty() ? member.model : members.front().model, member.model);
        !wrong.empty())
      reader.fail_here(wrong);
    members.push_back(std::move(member));
  }
  return make_stack(std::move(members));
}

class TrainedStack : public TrainedModelOf<TrainedStack, StackModel> {
 public:
  using TrainedModelOf::TrainedModelOf;

  std::string_view family() const override { return "stack"; }
  bool is_regression() const override { return model_.is_regression(); }
  ModelTraits traits() const override {
    ModelTraits traits;
    traits.log_odds = true;
    return traits;
  }
  std::vector<std::string> target_names() const override {
    return model_.members.empty() ? std::vector<std::string>() : model_.members.front().model.target_names();
  }

  template <class T>
  Predictions predictions(const Context& context, const Dataset<T>& dataset, bool /*probabilities*/,
                          std::span<const double> offsets) const {
    refuse_offsets(offsets);
    std::vector<std::vector<double>> values;
    std::vector<double> weights;
    Predictions last;
    std::vector<std::string> warnings;
    for (const auto& member : model_.members) {
      last = member.model.predict(context, dataset, !model_.is_regression());
      values.push_back(model_.is_regression() ? last.decisions : last.probabilities);
      weights.push_back(member.weight);
      for (auto& warning : last.warnings)
        if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
          warnings.push_back(std::move(warning));
    }
    auto mean = average(values, weights);
    if (model_.is_regression())
      last.decisions = std::move(mean);
    else
      last = predictions_from(std::move(mean), model_.class_names.size());
    last.warnings = std::move(warnings);
    return last;
  }
  double products_per_value() const override {
    double sum = 0;
    for (const auto& member : model_.members) sum += member.model.trained().products_per_value();
    return sum;
  }
  std::string prediction_text(const Predictions& predictions, std::size_t row) const override {
    return model_.members.front().model.prediction_text(predictions, row);
  }
  void write(ModelWriter& file) const override { write_members(file, model_); }
};

/// A stack takes no part in searches: these make it from models of other families.
class StackFamily : public Family {
 public:
  std::string_view name() const override { return "stack"; }
  std::string_view section() const override { return {}; }
  std::vector<ModelKind> kinds() const override { return {}; }
  std::vector<Parameter<ModelOptions>> parameters() const override { return {}; }
  ModelOptions with_defaults(ModelOptions /*options*/, const DataSummary& /*data*/) const override { refuse(); }
  WorkEstimate training_work(const ModelOptions& /*options*/, const DataSummary& /*data*/,
                             double /*models*/) const override {
    refuse();
  }
  WorkEstimate search_work(const SearchSpace& /*space*/, const DataSummary& /*data*/, double /*splits*/,
                           double /*levels*/) const override {
    refuse();
  }
  std::unique_ptr<TrainedModel> train(const Context& /*context*/, const Dataset<float>& /*dataset*/,
                                      const ModelOptions& /*options*/,
                                      std::span<const float> /*row_weights*/) const override {
    refuse();
  }
  std::unique_ptr<TrainedModel> train(const Context& /*context*/, const Dataset<double>& /*dataset*/,
                                      const ModelOptions& /*options*/,
                                      std::span<const float> /*row_weights*/) const override {
    refuse();
  }
  engine::FamilyTraits decide(const Dataset<float>& /*dataset*/, SearchSpace& /*space*/,
                              std::span<const float> /*row_weights*/) const override {
    refuse();
  }
  engine::FamilyTraits decide(const Dataset<double>& /*dataset*/, SearchSpace& /*space*/,
                              std::span<const float> /*row_weights*/) const override {
    refuse();
  }
  std::unique_ptr<engine::FamilySearch> search(const Context& /*context*/, const Dataset<float>& /*dataset*/,
                                               const SearchSpace& /*space*/,
                                               const engine::TrainingOptions& /*options*/) const override {
    refuse();
  }
  std::unique_ptr<engine::FamilySearch> search(const Context& /*context*/, const Dataset<double>& /*dataset*/,
                                               const SearchSpace& /*space*/,
                                               const engine::TrainingOptions& /*options*/) const override {
    refuse();
  }
  std::unique_ptr<TrainedModel> empty_model() const override { return trained_model(StackModel{}); }
  std::unique_ptr<TrainedModel> read(ModelReader& reader) const override { return trained_model(read_members(reader)); }

 private:
  [[noreturn]] static void refuse() { throw InternalError("a stack was to be trained or searched by itself"); }
};

}  // namespace

const Family& stack_family() {
  static const StackFamily row;
  return row;
}
const Family& family_of(const StackOptions& /*options*/) { return stack_family(); }

StackModel make_stack(std::vector<StackMember> members) {
  if (members.empty()) fail_usage("a stack has one member at least");
  StackModel stack;
  const auto& first = members.front().model;
  for (const auto& member : members)
    if (const auto wrong = wrong_member(first, member.model); !wrong.empty())
      fail("{} cannot be a member of the stack: {}", member.name, wrong);
  auto known = first.known_columns();
  stack.features = known.count;
  stack.feature_names = std::move(known.features);
  stack.levels = std::move(known.levels);
  stack.class_names = first.class_names();
  stack.members = std::move(members);
  return stack;
}

std::optional<Score> score_of(const StackModel& model, const Predictions& predictions, const Target& target) {
  return model.members.front().model.score(predictions, target);
}

std::vector<std::string> warnings_of(const StackModel& model) {
  std::vector<std::string> warnings;
  for (const auto& member : model.members)
    for (const auto& warning : member.model.warnings()) warnings.push_back(member.name + ": " + warning);
  return warnings;
}

std::unique_ptr<TrainedModel> trained_model(StackModel model) {
  return std::make_unique<TrainedStack>(std::move(model));
}
std::unique_ptr<TrainedModel> trained_model(const StackModel* model) { return std::make_unique<TrainedStack>(model); }

}  // namespace sheaf

#include "data/sheaf_file/about.hpp"

#include <algorithm>
#include <array>

#include <sheaf/version.hpp>

#include "data/read/reading.hpp"
#include "data/text/json_text.hpp"

namespace sheaf::sheaf_file {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kinds{"automatic", "classes", "numbers"};  // in the order of LabelKind

class AboutReader {
 public:
  explicit AboutReader(const File& file) : file_(file) {
    const auto* section = file.find(SectionKind::about);
    if (section == nullptr) file.damaged("it does not say what is in it");
    json_ = parse_json<Json>(section->bytes);
    if (!json_.is_object()) file.damaged("what it says of itself is no JSON");
  }

  std::string text(const char* name) const {
    const auto* member = find(name);
    if (member == nullptr) return {};
    if (!member->is_string()) wrong(name);
    return member->get<std::string>();
  }
  std::vector<std::string> texts(const char* name) const {
    const auto* member = find(name);
    if (member == nullptr) return {};
    if (!member->is_array()) wrong(name);
    std::vector<std::string> result;
    for (const auto& one : *member) {
      if (!one.is_string()) wrong(name);
      result.push_back(one.get<std::string>());
    }
    return result;
  }
  bool yes(const char* name) const {
    const auto* member = find(name);
    if (member != nullptr && !member->is_boolean()) wrong(name);
    return member != nullptr && member->get<bool>();
  }
  std::int64_t number(const char* name, std::int64_t automatic) const {
    const auto* member = find(name);
    if (member == nullptr) return automatic;
    if (!member->is_number_integer()) wrong(name);
    return member->get<std::int64_t>();
  }
  Json any(const char* name) const {
    const auto* member = find(name);
    return member == nullptr ? Json() : *member;
  }
  [[noreturn]] void wrong(const char* name) const { file_.damaged(fmt::format("its '{}' is of a wrong type", name)); }

 private:
  const Json* find(const char* name) const {
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

  const File& file_;
  Json json_;
};

}  // namespace

template <class T>
About about(const Dataset<T>& dataset) {
  const auto& target = dataset.target;
  About result;
  result.source = dataset.source;
  result.format = dataset.format;
  result.label = target.name;
  result.kind = target.kind;
  result.fixed_order = target.fixed_order;
  result.positive = target.positive;
  for (const auto& one : target.further) result.further_labels.push_back(one.name);
  result.time_name = dataset.row_columns.time_name;
  result.dates = dataset.row_columns.dates;
  result.fold_names = dataset.row_columns.fold_names;
  for (const auto& one : dataset.kept) result.kept.push_back(one.name);
  for (const auto& one : dataset.annotations) result.annotations.push_back(one.name);
  return result;
}

std::string encode_about(const About& about) {
  Json json{{"made_by", fmt::format("sheaf {}", SHEAF_VERSION)}, {"source", about.source}, {"format", about.format}};
  json["label"] = about.label;
  json["label_kind"] = kinds[static_cast<std::size_t>(about.kind)];
  json["fixed_order"] = about.fixed_order;
  json["positive"] = about.positive;
  json["further_labels"] = about.further_labels;
  json["time_name"] = about.time_name;
  json["dates"] = about.dates;
  json["fold_names"] = about.fold_names;
  json["kept"] = about.kept;
  if (!about.annotations.empty()) json["annotations"] = about.annotations;
  if (!about.cache.is_null()) json["cache"] = about.cache;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

About decode_about(const File& file) {
  const AboutReader json(file);
  About about;
  about.source = json.text("source");
  about.format = json.text("format");
  about.label = json.text("label");
  const auto kind = json.text("label_kind");
  const auto known = kind.empty() ? kinds.begin() : std::find(kinds.begin(), kinds.end(), kind);
  if (known == kinds.end()) json.wrong("label_kind");
  about.kind = static_cast<LabelKind>(known - kinds.begin());
  about.fixed_order = json.yes("fixed_order");
  const auto positive = json.number("positive", -1);
  if (positive < -1 || positive >= Target::max_classes) json.wrong("positive");
  about.positive = static_cast<std::int32_t>(positive);
  about.further_labels = json.texts("further_labels");
  about.time_name = json.text("time_name");
  about.dates = json.text("dates");
  about.fold_names = json.texts("fold_names");
  about.kept = json.texts("kept");
  about.annotations = json.texts("annotations");
  about.cache = json.any("cache");
  return about;
}

template About about(const Dataset<float>&);
template About about(const Dataset<double>&);

}  // namespace sheaf::sheaf_file

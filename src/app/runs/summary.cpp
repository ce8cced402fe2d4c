#include "app/runs/summary.hpp"

#include <vector>

namespace sheaf::app {
namespace {

constexpr std::size_t deepest = 3;
constexpr std::size_t longest_text = 4000;

class Taker : public nlohmann::json_sax<Json> {
 public:
  explicit Taker(std::map<std::string, Json>& values) : values_(values) {}

  bool null() override { return take(nullptr); }
  bool boolean(bool value) override { return take(value); }
  bool number_integer(number_integer_t value) override { return take(value); }
  bool number_unsigned(number_unsigned_t value) override { return take(value); }
  bool number_float(number_float_t value, const string_t&) override { return take(value); }
  bool string(string_t& value) override { return value.size() > longest_text || take(value); }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    path_.emplace_back();
    return path_.size() + lists_ < deepest_json;
  }
  bool key(string_t& name) override {
    path_.back() = name.size() > longest_text ? "" : name;
    return true;
  }
  bool end_object() override {
    path_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return path_.size() + ++lists_ < deepest_json; }
  bool end_array() override {
    --lists_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool take(Json value) {
    if (lists_ > 0 || path_.empty() || path_.size() > deepest) return true;
    std::string place;
    for (const auto& name : path_) place += (place.empty() ? "" : "/") + name;
    values_[place] = std::move(value);
    return true;
  }

  std::map<std::string, Json>& values_;
  std::vector<std::string> path_;
  std::size_t lists_ = 0;
};

}  // namespace

std::map<std::string, Json> read_shallow(std::istream& text) {
  std::map<std::string, Json> values;
  Taker taker(values);
  Json::sax_parse(text, &taker);
  return values;
}

}  // namespace sheaf::app

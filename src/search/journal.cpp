#include "search/journal.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <sheaf/error.hpp>

#include "search/sha256.hpp"

namespace sheaf::search {
namespace {

using Json = nlohmann::json;

constexpr std::size_t check_digits = 16;

std::string check(std::string_view text) { return sha256(text).substr(0, check_digits); }

/// JSON writes the fewest digits that read back as the same number, but knows neither NaN nor infinity.
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json.is_string()) return (json == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  return json.get<double>();
}

Json to_json(const ModelScores& model) {
  Json scores = Json::array();
  for (const double score : model.scores) scores.push_back(number(score));
  Json fits = Json::array();
  for (const auto& fit : model.fits)
    fits.push_back({number(fit.objective), number(fit.gradient_norm), number(fit.tolerance), fit.iterations,
                    fit.products, fit.converged});
  Json json{{"scores", scores}, {"roc", model.roc}, {"confusion", model.confusion}, {"fits", fits}};
  if (model.support >= 0) json["support"] = model.support;
  return json;
}

ModelScores from_json(const Json& json) {
  ModelScores model;
  for (std::size_t k = 0; k < metric_count; ++k) model.scores[k] = number(json.at("scores").at(k));
  model.roc = json.at("roc").get<std::vector<double>>();
  model.confusion = json.at("confusion").get<std::vector<std::int64_t>>();
  model.support = json.value("support", std::int64_t{-1});
  for (const auto& fit : json.at("fits"))
    model.fits.push_back({number(fit.at(0)), number(fit.at(1)), number(fit.at(2)), fit.at(3).get<int>(),
                          fit.at(4).get<int>(), fit.at(5).get<bool>()});
  return model;
}

}  // namespace

Journal::Journal(std::string path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    fail("{}: another search is at work there", path_);
  }
  load();
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail("{}: cannot be emptied: {}", path_, std::strerror(errno));
  batches_.clear();
  found_ = 0;
  planned_ = false;
}

void Journal::load() {
  std::string text;
  std::string buffer(std::size_t{1} << 20U, '\0');
  for (ssize_t got = 0; (got = ::read(descriptor_, buffer.data(), buffer.size())) != 0;) {
    if (got < 0) fail("{}: cannot be read: {}", path_, std::strerror(errno));
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
  std::size_t good = 0;
  while (true) {
    const auto end = text.find('\n', good);
    if (end == std::string::npos || !take(std::string_view(text).substr(good, end - good))) break;
    good = end + 1;
  }
  if (good < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(good)) != 0)
    fail("{}: cannot be written: {}", path_, std::strerror(errno));
  found_ = batches_.size();
}

/// False: torn or damaged.
bool Journal::take(std::string_view line) {
  if (line.size() <= check_digits || line.substr(0, check_digits) != check(line.substr(check_digits + 1))) return false;
  const auto json = Json::parse(line.substr(check_digits + 1), nullptr, false);
  if (json.is_discarded()) return false;
  if (json.contains("plan")) {
    plan_ = {json["plan"].at("memory").get<std::int64_t>(), json["plan"].at("tasks").get<std::int32_t>()};
    planned_ = true;
    return true;
  }
  auto& models = batches_[json.at("batch").get<std::int32_t>()];
  for (const auto& model : json.at("models")) models.push_back(from_json(model));
  return true;
}

void Journal::append(const std::string& json) {
  const auto line = fmt::format("{} {}\n", check(json), json);
  std::string_view left = line;
  while (!left.empty()) {
    const auto done = ::write(descriptor_, left.data(), left.size());
    if (done >= 0)
      left.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR)
      fail("{}: cannot be written: {}; what is in it stays, and --resume goes on from there", path_,
           std::strerror(errno));
  }
  if (::fsync(descriptor_) != 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
}

BatchPlan Journal::agree(const BatchPlan& proposed) {
  if (planned_) return plan_;
  plan_ = proposed;
  planned_ = true;
  append(Json{{"plan", {{"memory", plan_.memory}, {"tasks", plan_.tasks}}}}.dump());
  return plan_;
}

const std::vector<ModelScores>* Journal::recall(std::int32_t batch) {
  const auto found = batches_.find(batch);
  return found == batches_.end() ? nullptr : &found->second;
}

void Journal::keep(std::int32_t batch, const std::vector<ModelScores>& models) {
  Json list = Json::array();
  for (const auto& model : models) list.push_back(to_json(model));
  append(Json{{"batch", batch}, {"models", list}}.dump());
}

}  // namespace sheaf::search

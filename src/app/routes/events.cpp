// Server-sent events: a run's journal as it grows, and changes of the folder.
#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include <fmt/format.h>

#include <sheaf/scores.hpp>

#include "app/process/use.hpp"
#include "app/routes/job_json.hpp"
#include "app/routes/route.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto look_interval = 1s;        // of states, which takes longer than to look whether a journal has grown
constexpr std::size_t check_digits = 16;  // of a line of a journal, see data/write/record_file.hpp
constexpr std::size_t most_bytes = std::size_t{4} << 20U;  // of a journal that are read at once

std::string event(std::string_view name, const Json& data, std::int64_t id = 0) {
  const auto number = id > 0 ? fmt::format("id: {}\n", id) : std::string();
  return fmt::format("{}event: {}\ndata: {}\n\n", number, name, text_of(data));
}

/// Where a value ends that begins with a bracket or a quote.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  int depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\')
      ++at;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted)
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (!quoted && depth == 0) return std::min(at + 1, text.size());
  }
  return text.size();
}

/// A record without the lists that no page shows while it runs, such as curves: they are nearly all of it, and would be
/// converted number by number.
std::string without_curves(std::string_view record) {
  std::string text;
  for (std::size_t at = 0; at < record.size();) {
    const auto quote = std::min(record.find('"', at), record.size());
    const auto end = end_of_value(record, quote);
    const auto name = record.substr(quote, end - quote);
    text += record.substr(at, end - at);
    at = end;
    const bool shown = name == "\"models\"" || name == "\"result\"" || name == "\"scores\"";
    if (shown || !record.substr(at).starts_with(":[")) continue;
    text += ":[]";
    at = end_of_value(record, at + 1);
  }
  return text;
}

/// The scores that are defined, by their names.
Json scores_json(const Json& values) {
  Json scores = Json::object();
  const auto rows = metrics();
  for (std::size_t k = 0; k < std::min(values.size(), rows.size()); ++k)
    if (values[k].is_number()) scores[std::string(rows[k].name)] = values[k];
  return scores;
}

/// The part of a trained model that a page shows.
Json model_json(const Json& model) {
  Json json = model.contains("place") && model["place"].is_object() ? model["place"] : Json::object();
  json["scores"] = model.contains("scores") ? scores_json(model["scores"]) : Json::object();
  json["size"] = model.contains("size") ? model["size"] : Json();
  return json;
}

/// A record of finished models, wherever it keeps them.
const Json* models_in(const Json& record) {
  if (record.contains("models")) return &record["models"];
  if (!record.contains("result")) return nullptr;
  const auto& result = record["result"];
  if (result.is_array()) return &result;
  return result.is_object() && result.contains("models") ? &result["models"] : nullptr;
}

std::string record_event(const Json& record, std::int64_t line) {
  const auto* models = models_in(record);
  if (models == nullptr || !models->is_array()) return event("record", {{"line", line}}, line);
  Json list = Json::array();
  for (const auto& model : *models)
    if (model.is_object()) list.push_back(model_json(model));
  const auto number = record.contains("batch") ? record["batch"] : record.contains("unit") ? record["unit"] : Json();
  return event("scores", {{"batch", number}, {"models", std::move(list)}}, line);
}

Json use_json(const Use& use) {
  Json gpus = Json::array();
  for (const auto& gpu : use.gpus)
    gpus.push_back({{"name", gpu.name},
                    {"load", gpu.load},
                    {"used_bytes", gpu.used_bytes},
                    {"total_bytes", gpu.total_bytes},
                    {"own_bytes", gpu.own_bytes}});
  return {{"cores", use.cores}, {"memory_bytes", use.memory_bytes}, {"gpus", std::move(gpus)}};
}

/// Reads whole lines of a file that grows.
class JournalTail {
 public:
  explicit JournalTail(std::string path) : path_(std::move(path)) {}

  /// Events of new lines behind `after`. A journal that has become shorter is a new one.
  std::string next(std::int64_t after) {
    std::string events;
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return events;
    const OpenFile file(descriptor);
    const auto size = ::lseek(descriptor, 0, SEEK_END);
    if (size < place_) {
      place_ = 0;
      line_ = 0;
      events += event("restart", Json::object());
    }
    std::string text(std::min<std::size_t>(static_cast<std::size_t>(std::max<off_t>(size - place_, 0)), most_bytes_),
                     '\0');
    const auto got = ::pread(descriptor, text.data(), text.size(), place_);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    std::size_t at = 0;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n', at)) {
      if (++line_ > after) events += line_event(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    more_ = at > 0 && static_cast<off_t>(text.size()) < size - place_;
    most_bytes_ = at == 0 && text.size() == most_bytes_ ? 2 * most_bytes_ : most_bytes;  // a line longer than that
    place_ += static_cast<off_t>(at);
    return events;
  }
  /// Lines were left for the next time.
  bool more() const { return more_; }

 private:
  std::string line_event(std::string_view line) const {
    if (line.size() <= check_digits) return {};
    const auto record = parse_json<Json>(without_curves(line.substr(check_digits + 1)));
    return record.is_object() ? record_event(record, line_) : std::string();
  }

  std::string path_;
  off_t place_ = 0;
  std::int64_t line_ = 0;
  std::size_t most_bytes_ = most_bytes;
  bool more_ = false;
};

class RunEvents : public EventStream {
 public:
  RunEvents(Services& services, std::string id, const std::string& path, std::int64_t after)
      : services_(services), id_(std::move(id)), journal_(path), after_(after) {}

  std::string next() override {
    const auto now = Clock::now();
    bool over = false;
    std::string text;
    if (now >= look_) {
      look_ = now + look_interval;
      text += look(over);
    }
    text = journal_.next(after_) + text;
    if (over && !journal_.more()) {
      ended_ = true;
      text += event("state", {{"state", state_}});
    }
    return text;
  }
  bool ended() const override { return ended_; }

 private:
  /// Progress, what the process takes and, unless it is the last one, a new state.
  std::string look(bool& over) {
    const auto run = services_.runs.find(id_);
    const std::string state(run.state);
    over = state != "running" && state != "queued";
    std::string text;
    if (state != state_ && !over) text += event("state", {{"state", state}});
    state_ = state;
    if (over) return text;
    if (run.process)
      if (const auto use = meter_.measure(*run.process)) text += event("use", use_json(*use));
    auto progress = services_.runs.progress_of(run);
    if (progress.is_null()) return text;
    if (progress != progress_) text += event("progress", progress);
    progress_ = std::move(progress);
    return text;
  }

  Services& services_;
  std::string id_;
  JournalTail journal_;
  std::int64_t after_;
  Clock::time_point look_ = Clock::now();
  UseMeter meter_;
  std::string state_;
  Json progress_;
  bool ended_ = false;
};

/// The list of jobs, and that the other lists have changed.
class FolderEvents : public EventStream {
 public:
  explicit FolderEvents(Services& services) : services_(services) {}

  bool is_due() const override { return services_.jobs.revision() != revision_ || Clock::now() >= look_; }
  std::string next() override {
    const auto now = Clock::now();
    std::string text;
    if (is_due()) {
      revision_ = services_.jobs.revision();
      auto jobs = text_of(jobs_json(services_));
      if (jobs != jobs_) text += fmt::format("event: jobs\ndata: {}\n\n", jobs);
      jobs_ = std::move(jobs);
    }
    if (now < look_) return text;
    look_ = now + 1s;
    auto listing = services_.lister.list();
    if (!listing_) listing_ = listing;
    if (!same(listing->runs, listing_->runs)) text += event("runs", Json::object());
    if (!same(listing->data, listing_->data)) text += event("datasets", Json::object());
    listing_ = std::move(listing);
    return text;
  }
  bool ended() const override { return false; }

 private:
  static bool equal(const RunFolder& a, const RunFolder& b) {
    return a.path == b.path && a.settings == b.settings && a.results == b.results;
  }
  static bool equal(const DataFile& a, const DataFile& b) { return a.path == b.path && a.facts == b.facts; }
  template <class T>
  static bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return equal(x, y); });
  }

  Services& services_;
  std::uint64_t revision_ = 0;
  Clock::time_point look_;
  std::string jobs_;
  std::shared_ptr<const Listing> listing_;
};

Response stream(std::unique_ptr<EventStream> events) {
  Response response;
  response.headers = {{"Content-Type", "text/event-stream"},
                      {"Cache-Control", "no-store"},
                      {"X-Accel-Buffering", "no"}};  // proxies pass each event on at once
  response.events = std::move(events);
  return response;
}

std::int64_t last_event(const Request& request) {
  const auto text = request.header("last-event-id");
  std::int64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id);
  return std::max<std::int64_t>(id, 0);
}

Response run_events(Services& services, Call& call) {
  const auto run = services.runs.find(call.id());
  const auto journal = services.folder.root() + "/" + run.folder.path + "/journal.txt";
  return stream(std::make_unique<RunEvents>(services, call.id(), journal, last_event(call.request)));
}

Response folder_events(Services& services, Call&) { return stream(std::make_unique<FolderEvents>(services)); }

}  // namespace

std::vector<Route> event_routes() {
  return {{"GET", "/events", folder_events}, {"GET", "/runs/{id}/events", run_events}};
}

}  // namespace sheaf::app

// A model applied to rows that were typed, or to a table.
#include <fmt/format.h>

#include "app/routes/datasets.hpp"
#include "app/routes/route.hpp"
#include "core/text.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_typed = 10000;  // rows

std::vector<std::string> texts_of(const Json& list, const char* what) {
  std::vector<std::string> texts;
  if (!list.is_array()) throw Refusal{400, "bad_request", fmt::format("{} is a list", what), what};
  for (const auto& one : list)
    texts.push_back(one.is_string() ? one.get<std::string>() : one.is_null() ? "" : one.dump());
  return texts;
}

std::string typed_rows(Services& services, const Json& body) {
  const auto columns = texts_of(body["columns"], "columns");
  if (!body.contains("rows") || !body["rows"].is_array() || body["rows"].empty() || body["rows"].size() > most_typed)
    throw Refusal{400, "bad_request", fmt::format("rows is a list of 1 to {} rows", most_typed), "rows"};
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : body["rows"]) {
    rows.push_back(texts_of(row, "rows"));
    if (rows.back().size() != columns.size())
      throw Refusal{400, "bad_request",
                    fmt::format("row {} has {} for {}", rows.size(), counted(rows.back().size(), "value"),
                                counted(columns.size(), "column")),
                    "rows"};
  }
  return services.predictions.keep_rows(columns, rows);
}

std::string model_of(Services& services, const Json& body) {
  const auto run = text_at(body, "run"), model = text_at(body, "model");
  if (run.empty() == model.empty())
    throw Refusal{400, "bad_request", "one of run and model says what is applied", "run"};
  const auto path = run.empty() ? model : services.runs.find(run).folder.path + "/model.txt";
  return services.folder.relative(services.folder.find(path));
}

Response answer(Services& services, const std::string& id, std::int64_t from, std::int64_t count,
                std::chrono::milliseconds wait, int status = 200) {
  return json_response(services.forms.with_titles(services.predictions.page(id, from, count, wait)), status);
}

Response predict(Services& services, Call& call) {
  const auto body = call.object();
  PredictionRequest request;
  request.model = model_of(services, body);
  std::string key;
  if (body.contains("columns")) {
    request.input = typed_rows(services, body);
  } else {
    const auto file = find_dataset(services, text_at(body, "dataset"));
    request.input = file.path;
    key = work_key(file, {});
  }
  const auto model = facts_of(services.folder.root() + "/" + request.model);
  key += fmt::format(" {} {}", model.modified, model.bytes);
  if (body.contains("threshold") && body["threshold"].is_number())
    request.options.push_back("--threshold=" + body["threshold"].dump());
  if (body.contains("explain") && body["explain"].is_boolean()) request.explain = body["explain"].get<bool>();
  if (body.contains("explain_count") && body["explain_count"].is_number_unsigned())
    request.explain_count = std::max<std::int64_t>(1, body["explain_count"].get<std::int64_t>());
  return answer(services, services.predictions.start(request, key), 0, 100, 2s, 201);
}

Response prediction(Services& services, Call& call) {
  const auto from = call.number("from", 0, 0, std::int64_t{1} << 60);
  return answer(services, call.id(), from, call.number("count", 100, 1, 1000), 1s);
}

Response prediction_file(Services& services, Call& call) {
  return file_response(call, services.predictions.file_of(call.id()), "text/csv; charset=utf-8", "predictions.csv");
}

}  // namespace

std::vector<Route> predict_routes() {
  return {{.method = "POST", .pattern = "/predict", .handler = predict, .body = std::uint64_t{64} << 20U},
          {"GET", "/predictions/{id}", prediction},
          {"GET", "/predictions/{id}/file", prediction_file}};
}

}  // namespace sheaf::app

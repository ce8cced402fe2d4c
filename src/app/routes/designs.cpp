// Settings: checked, estimated, started.
#include <fmt/format.h>

#include "app/forms/design.hpp"
#include "app/routes/datasets.hpp"
#include "app/routes/designs.hpp"
#include "app/routes/route.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

/// "trial-search" for "uploads/trial.csv.gz".
std::string name_after(const std::string& dataset, const std::string& task) {
  const auto name = dataset.substr(dataset.rfind('/') + 1);
  return name.substr(0, name.find('.', 1)) + "-" + task;
}

Response design(Services& services, Call& call) {
  const auto design = design_from(services, call.object());
  Json errors = Json::array();
  for (const auto& error : design.errors)
    errors.push_back(services.forms.with_titles(
        {{"field", error.field.empty() ? Json() : Json(error.field)}, {"message", error.message}}, design.task->name));
  const auto words = words_with_output(design);
  const auto python = python_text(design);
  const auto r = r_text(design);
  return json_response({{"valid", design.errors.empty()},
                        {"errors", std::move(errors)},
                        {"name", design.name},
                        {"arguments", words},
                        {"command", command_text(words)},
                        {"python", python ? Json(*python) : Json()},
                        {"r", r ? Json(*r) : Json()}});
}

Response estimate(Services& services, Call& call) {
  const auto design = valid_design_from(services, call.object());
  if (!design.task->plans) throw Refusal{400, "bad_request", "this task says not before what it takes", "task"};
  auto words = words_of(design);
  words.emplace_back("--plan");
  words.emplace_back("--json");
  const auto file = find_dataset(services, Folder::id_of(design.datasets.front()));
  const auto result = services.work.run(work_key(file, words), words, 1s);
  if (result.state == Work::State::running) return json_response({{"state", "running"}, {"seconds", result.seconds}});
  const Json answer = result.state == Work::State::failed
                          ? Json{{"state", "failed"}, {"message", result.message}}
                          : Json{{"state", "ready"}, {"estimate", parse_json<Json>(result.out)}};
  return json_response(services.forms.with_titles(answer, design.task->name));
}

}  // namespace

Design design_from(Services& services, const Json& body) {
  std::vector<std::string> datasets;
  if (body.contains("datasets") && body["datasets"].is_array())
    for (const auto& id : body["datasets"])
      if (id.is_string()) datasets.push_back(find_dataset(services, id.get<std::string>()).path);
  if (datasets.empty()) throw Refusal{400, "bad_request", "datasets: the ids of one or more are needed", "datasets"};
  const auto task = find_task(text_at(body, "task"));
  if (datasets.size() > 1 && task.name != "rescore")
    throw Refusal{400, "bad_request", "only rescoring takes several files", "datasets"};
  const auto given = text_at(body, "name");
  if (!given.empty() && !is_plain_path(given))
    throw Refusal{400, "bad_request", "the name of a folder of results has no dots in front and no empty parts",
                  "name"};
  auto name = given.empty() ? name_after(datasets.front(), task.name) : given;
  if (const auto slash = name.rfind('/'); slash != name.npos) services.folder.find(name.substr(0, slash));
  return read_design(services.forms, services.folder, body, std::move(datasets), services.jobs.free_name(name));
}

Design valid_design_from(Services& services, const Json& body) {
  auto design = design_from(services, body);
  if (!design.errors.empty())
    throw Refusal{400, "bad_request", design.errors.front().message, design.errors.front().field};
  return design;
}

std::vector<Route> design_routes() {
  return {{.method = "POST", .pattern = "/design", .handler = design, .body = json_bytes},
          {.method = "POST", .pattern = "/design/estimate", .handler = estimate, .body = json_bytes}};
}

}  // namespace sheaf::app

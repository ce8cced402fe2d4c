// The queue.
#include "app/routes/designs.hpp"
#include "app/routes/job_json.hpp"
#include "app/routes/route.hpp"

namespace sheaf::app {
namespace {

Response list(Services& services, Call&) { return json_response(jobs_json(services)); }

Response response_of(Services& services, const std::string& id, int status = 200) {
  const auto list = jobs_json(services);
  for (const auto& job : list["jobs"])
    if (job["id"] == id) return json_response(job, status);
  throw Refusal{404, "not_found", "there is no such job"};
}

Response one(Services& services, Call& call) { return response_of(services, call.id()); }

Response job_response(Services& services, const Job& job, int status = 200) {
  services.lister.forget();
  return response_of(services, job.id, status);
}

Response start(Services& services, Call& call) {
  return job_response(services, services.jobs.start(valid_design_from(services, call.object())), 201);
}

Response remove(Services& services, Call& call) {
  services.jobs.remove(call.id());
  Response response;
  response.status = 204;
  return response;
}

Response stop(Services& services, Call& call) { return job_response(services, services.jobs.stop(call.id())); }
Response resume(Services& services, Call& call) { return job_response(services, services.jobs.resume(call.id())); }

Response order(Services& services, Call& call) {
  const auto body = call.object();
  if (!body.contains("position") || !body["position"].is_number_unsigned())
    throw Refusal{400, "bad_request", "position is a whole number, 0 or more", "position"};
  return job_response(services, services.jobs.move(call.id(), body["position"].get<std::size_t>()));
}

Route changing(std::string_view method, std::string_view pattern, Handler handler) {
  return {.method = method, .pattern = pattern, .handler = std::move(handler), .body = json_bytes, .changes = true};
}

}  // namespace

Json jobs_json(Services& services) {
  Json list = Json::array();
  std::int64_t position = 0;
  for (const auto& job : services.jobs.list()) {
    const bool active = job.state == JobState::running || job.state == JobState::stopping;
    Json datasets = Json::array();
    for (const auto& path : job.datasets) datasets.push_back(Folder::id_of(path));
    Json one{{"id", job.id},
             {"name", job.folder},
             {"task", job.task},
             {"datasets", std::move(datasets)},
             {"dataset_paths", job.datasets},
             {"settings", job.settings},
             {"command", command_text(job.words)},
             {"state", to_string(job.state)},
             {"run", Folder::id_of(job.folder)},
             {"position", job.state == JobState::queued ? Json(position++) : Json()},
             {"created", job.created},
             {"started", job.started > 0 ? Json(job.started) : Json()},
             {"ended", job.ended > 0 ? Json(job.ended) : Json()},
             {"exit_code", job.exit_code ? Json(*job.exit_code) : Json()},
             {"message", job.message},
             {"progress", active ? read_progress(services.jobs.progress_of(job.id)) : Json()}};
    list.push_back(services.forms.with_titles(std::move(one), job.task));
  }
  return {{"jobs", std::move(list)}};
}

std::vector<Route> job_routes() {
  return {{"GET", "/jobs", list},
          changing("POST", "/jobs", start),
          {"GET", "/jobs/{id}", one},
          changing("DELETE", "/jobs/{id}", remove),
          changing("POST", "/jobs/{id}/stop", stop),
          changing("POST", "/jobs/{id}/resume", resume),
          changing("POST", "/jobs/{id}/order", order)};
}

}  // namespace sheaf::app

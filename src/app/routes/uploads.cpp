// Files that people drop into the page: written as they arrive, and there when they are complete.
#include <filesystem>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "app/routes/datasets.hpp"
#include "app/routes/route.hpp"
#include "app/routes/uploads.hpp"
#include "core/temporary.hpp"
#include "core/text.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::uint64_t left_free = std::uint64_t{64} << 20U;  // bytes of the disk

[[noreturn]] void fail_upload(const std::string& why) {
  throw Refusal{507, "failed", fmt::format("the file cannot be written: {}", why)};
}

/// A name that no file has: "trial-2.csv.gz" for "trial.csv.gz".
std::string free_path(const Services& services, const std::string& folder, const std::string& name) {
  const auto dot = std::min(name.find('.', 1), name.size());
  auto path = folder + "/" + name;
  std::error_code ignored;
  for (int k = 2; fs::exists(fs::symlink_status(services.folder.root() + "/" + path, ignored)); ++k)
    path = fmt::format("{}/{}-{}{}", folder, name.substr(0, dot), k, name.substr(dot));
  return path;
}

class Upload : public BodySink {
 public:
  Upload(std::string path, const std::string& absolute) : path_(std::move(path)), file_(absolute, Links::replace) {}

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto done = ::write(file_.descriptor(), bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail_upload(std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
  }
  std::string publish() {
    file_.publish();
    return path_;
  }

 private:
  std::string path_;
  TemporaryFile file_;
};

Json created(Services& services, const std::string& path) {
  services.lister.forget();
  return dataset_json(services, find_dataset(services, Folder::id_of(path)), Json::object());
}

Response upload(Services& services, Call& call) {
  auto* sink = dynamic_cast<Upload*>(call.request.sink.get());
  if (sink == nullptr) throw Refusal{400, "bad_request", "the file is empty"};
  return json_response(created(services, sink->publish()), 201);
}

/// The dataset of the tour in README.md.
Response demonstration(Services& services, Call&) {
  const std::string path = "demonstration/microbes.arff.gz";
  if (!facts_of(services.folder.root() + "/" + path).there()) {
    std::error_code error;
    fs::create_directories(services.folder.root() + "/demonstration", error);
    const auto result =
        services.work.run("demonstration", {"generate", "microbes", path, "--seed", "7", "--quiet"}, 60s);
    services.work.forget("demonstration");
    if (result.state != Work::State::ready) throw Refusal{500, "failed", result.message};
  }
  return json_response(created(services, path), 201);
}

}  // namespace

BodyPlan plan_upload(Services& services, const Request& request, const std::string& given) {
  const auto name = safe_file_name(given);
  if (kind_and_format(name).first.empty())
    throw Refusal{400, "bad_request",
                  fmt::format("{}: sheaf reads no files of such a name; known are .csv, .arff, .libsvm, .npz, .mtx, "
                              ".biom, .h5ad, .xlsx, .pin and others, also with .gz, .xz or .zst",
                              name)};
  std::error_code error;
  const auto root = services.folder.root();
  const auto free = fs::space(root, error).available;
  if (error) fail_upload(error.message());
  if (request.length && *request.length + left_free > free)
    throw Refusal{507, "too_large",
                  fmt::format("the disk has {} left, and the file {}", counted(free, "byte"), *request.length)};
  fs::create_directories(root + "/uploads", error);
  if (error) fail_upload(error.message());
  services.folder.find("uploads");  // no link to elsewhere
  const auto path = free_path(services, "uploads", name);
  return {free > left_free ? free - left_free : 0, std::make_unique<Upload>(path, root + "/" + path)};
}

std::vector<Route> upload_routes() {
  return {
      {.method = "PUT", .pattern = "/uploads/{name}", .handler = upload, .changes = true, .upload = true},
      {.method = "POST", .pattern = "/demonstration", .handler = demonstration, .body = json_bytes, .changes = true}};
}

}  // namespace sheaf::app

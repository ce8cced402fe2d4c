#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include "app/serve.hpp"
#include "command.hpp"
#include "core/fail.hpp"
#include "data/parameter_rows.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

std::string_view type_name(ParameterType type) {
  switch (type) {
    case ParameterType::text:
      return "text";
    case ParameterType::name:
      return "name";
    case ParameterType::yes_no:
      return "yes_no";
    case ParameterType::whole_number:
      return "whole_number";
    case ParameterType::number:
      return "number";
    case ParameterType::texts:
      return "texts";
    case ParameterType::whole_numbers:
      return "whole_numbers";
    case ParameterType::numbers:
      return "numbers";
  }
  return "text";
}

std::optional<double> limit(double value) {
  const bool none = value == std::numeric_limits<double>::lowest() || value == std::numeric_limits<double>::max();
  return none ? std::nullopt : std::optional(value);
}

/// Names the option knows; those of one that takes a few stand in place of its value.
std::vector<std::string> choices_of(const Option& option) {
  if (!option.choices.empty() || option.value.find('|') == std::string::npos) return option.choices;
  std::vector<std::string> names;
  for (const auto name : split_text(option.value, '|')) {
    if (name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != name.npos) return {};
    names.emplace_back(name);
  }
  return names;
}

app::FormOption form_option(const Command& command, const Option& option) {
  app::FormOption form;
  form.flag = option.flag;
  form.is_switch = option.value.empty();
  form.name = option.flag.substr(2);
  if (form.is_switch && form.name.starts_with("no-")) form.name = form.name.substr(3);
  form.choices = choices_of(option);
  form.type = form.is_switch                                                ? "yes_no"
              : option.type == ParameterType::text && !form.choices.empty() ? "name"
                                                                            : type_name(option.type);
  form.value = option.value;
  form.help = option.help;
  form.default_text = option.default_text;
  if (form.is_switch) form.preset = option.flag.starts_with("--no-") ? "yes" : "no";
  if (!option.preset.empty()) form.preset = option.preset;
  form.kinds = option.kinds;
  form.low = limit(option.low);
  form.high = limit(option.high);
  form.vector = option.vector;
  form.several = option.type == ParameterType::texts || form.name == "model";
  form.repeated = option.type == ParameterType::text && form.name == "class-weight";
  form.is_list = option.is_list;
  form.of_numbers = option.of_numbers;
  form.of_family = !option.families.empty();
  form.reads_file = option.use == FileUse::read;
  form.writes = option.use == FileUse::written || option.use == FileUse::folder;
  form.main =
      std::find(command.main_options.begin(), command.main_options.end(), option.flag) != command.main_options.end();
  return form;
}

std::vector<app::FormSection> sections_of(std::string_view name) {
  const auto& command = find_command(name);
  Arguments arguments;
  const auto work = command.declare(arguments);  // owns what the options set
  std::vector<app::FormSection> sections;
  for (const auto& section : arguments.sections()) {
    app::FormSection form{section.title, {}};
    for (const auto& option : section.options) form.options.push_back(form_option(command, option));
    sections.push_back(std::move(form));
  }
  return sections;
}

std::optional<std::string> check_option(std::string_view name, const std::string& flag, const std::string& text) {
  Arguments arguments;
  const auto work = find_command(name).declare(arguments);
  for (const auto& section : arguments.sections())
    for (const auto& option : section.options) {
      if (option.flag != flag || !option.families.empty()) continue;
      try {
        option.set(text);
      } catch (const Error& error) {
        return error.what();
      }
    }
  return std::nullopt;
}

/// By the system's own program, if somebody sits before the screen.
void open_browser(const std::string& address) {
  if (!is_terminal(STDERR_FILENO) || (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr))
    return;
  std::string program = "xdg-open", word = address;
  char* words[] = {program.data(), word.data(), nullptr};
  pid_t pid = 0;
  ::posix_spawnp(&pid, program.c_str(), nullptr, nullptr, words, environ);
}

struct App {
  app::ServeOptions options;
  std::vector<std::string> hosts;
  std::string certificate, key;
  bool no_open = false, unencrypted = false;

  void take_certificate() {
    if (certificate.empty() && !key.empty()) fail_usage("--key {}: is that of a --certificate, which is missing", key);
    if (!certificate.empty() && unencrypted) fail_usage("--certificate encrypts, and --unencrypted does not; give one");
    if (!certificate.empty()) options.certificate = {certificate, key.empty() ? certificate : key};
  }

  void run() {
    const bool local = options.host == "127.0.0.1" || options.host == "::1" || options.host == "localhost";
    if (options.host == "localhost") options.host = "127.0.0.1";
    take_certificate();
    if (!local && !options.certificate && !unencrypted)
      fail_usage(
          "--host {}: others on the network could read the token and the data as they pass; give a --certificate, use "
          "an SSH tunnel or a proxy with TLS, or say --unencrypted",
          options.host);
    std::error_code error;
    options.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error) fail("/proc/self/exe: cannot be read: {}", error.message());
    options.hosts = hosts;
    app::serve(options, {sections_of, check_option}, stop_on_signal(), [&](const std::string& address) {
      say(fmt::format("{}: open {}", options.folder, address));
      say("Ctrl-C ends the server; jobs go on.");
      if (!no_open) open_browser(address);
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto app = std::make_shared<App>();
  arguments.positional("FOLDER", app->options.folder, "the folder with datasets and results; left out: this one",
                       false);
  arguments.add({"--port", "N", "the port to listen on; 0: any that is free", "0", [app](const std::string& text) {
                   app->options.port = parse_number<std::uint16_t>("--port", text, {});
                 }});
  arguments.flag("no-open", app->no_open, "print the address, open no browser");
  arguments.flag("read-only", app->options.read_only, "show datasets and results; start, upload and remove nothing");
  arguments.add({"--jobs", "N", "jobs that run at the same time; others wait", "1", [app](const std::string& text) {
                   app->options.jobs_at_once = parse_number<int>("--jobs", text, {1, 1000});
                 }});
  arguments.text(
      "host", "ADDRESS", app->options.host,
      "the address to listen on, of this machine; other than the loopback interface only with --certificate or "
      "--unencrypted");
  arguments.text("certificate", "FILE", app->certificate,
                 "serve HTTPS: certificates in PEM, that of this machine's name first");
  arguments.text("key", "FILE", app->key,
                 "the private key of the certificate, in PEM; left out: it is in the same file");
  arguments.flag("unencrypted", app->unencrypted,
                 "with --host: whoever reads the network may read the token and the data");
  arguments.text("prefix", "PATH", app->options.prefix,
                 "the path in front of all addresses, behind a proxy: /user/anna/sheaf");
  arguments.list("allow-host", "NAMES", app->hosts,
                 "other names of this server, that of its certificate or those a proxy passes on, separated by commas");
  arguments.reads({"--certificate", "--key"});
  return [app] { app->run(); };
}

}  // namespace

Command app_command() {
  return {"app",
          "Open datasets, searches and results in the browser",
          {{"this folder", "sheaf app"},
           {"a folder of another machine, through a tunnel: there and here",
            "sheaf app study --port 8765 --no-open; ssh -L 8765:127.0.0.1:8765 there"},
           {"to show results to others of this machine", "sheaf app results --read-only"},
           {"on the network of an institute",
            "sheaf app study --host 0.0.0.0 --port 8765 --certificate node7.pem --allow-host node7.example.org"}},
          declare};
}

}  // namespace sheaf::cli

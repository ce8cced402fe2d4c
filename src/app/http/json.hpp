// JSON as the server reads and writes it.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "app/http/message.hpp"
#include "data/text/json_text.hpp"

namespace sheaf::app {

using Json = nlohmann::ordered_json;

/// Bytes that are no UTF-8 are replaced: names of files may have any.
inline std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

inline Response json_response(const Json& json, int status = 200) {
  Response response;
  response.status = status;
  response.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}};
  response.body = text_of(json);
  return response;
}

/// A 400 Refusal of what is no JSON object.
inline Json object_from(std::string_view text) {
  auto json = parse_json<Json>(text);
  if (!json.is_object()) throw Refusal{400, "bad_request", "the body must be a JSON object"};
  return json;
}

/// The text of a member; empty if it is not there or no text.
inline std::string text_at(const Json& json, const char* name) {
  return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                           : std::string();
}

}  // namespace sheaf::app

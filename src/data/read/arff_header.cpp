#include "data/read/arff_header.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "data/read/label_column.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

bool ends_word(char c) { return is_blank(c) || c == ',' || c == '{' || c == '}' || c == '%'; }

ArffToken quoted_token(const Reading& reading, const char*& at, const char* line) {
  ArffToken token{{}, at, true, false};
  const char quote = *at++;
  const char* begin = at;
  for (; at < line && *at != quote; ++at)
    if (*at == '\\' && at + 1 < line) {
      token.escaped = true;
      ++at;
    }
  if (at == line) fail_at(reading, token.at, "the quote that opens here is not closed on this line");
  token.text = {begin, static_cast<std::size_t>(at - begin)};
  ++at;
  return token;
}

void add_level(const Reading& reading, ArffAttribute& attribute, const ArffToken& token) {
  const std::string level = checked_name(reading, token.plain(), token.at);
  const auto id = static_cast<std::int32_t>(attribute.levels.size());
  if (!attribute.level_ids.try_emplace(level, id).second)
    fail_at(reading, token.at,
            fmt::format("the value {} stands twice in the list of {}", shown(level), shown(attribute.name)));
  double number = 0;
  const bool is_number = parse_whole_number(std::string_view(level), number) == NumberStatus::ok;
  attribute.level_numbers.push_back(is_number ? number : TextColumn::no_number);
  attribute.levels.push_back(level);
}

/// "{a, b, 'c d'}".
void read_levels(const Reading& reading, ArffAttribute& attribute, const char*& at, const char* line) {
  const char* open = at++;
  attribute.kind = ArffAttribute::Kind::nominal;
  for (;;) {
    at = skip_arff_blanks(at, line);
    if (at < line && *at == '}') break;
    if (at_arff_end(at, line)) fail_at(reading, open, "the list of values that opens here is not closed on this line");
    if (*at == ',' || *at == '{') fail_at(reading, at, fmt::format("a value expected, found '{}'", *at));
    add_level(reading, attribute, next_arff_token(reading, at, line));
    at = skip_arff_blanks(at, line);
    if (at < line && *at == ',') ++at;
  }
  ++at;
  if (attribute.levels.empty())
    fail_at(reading, open, fmt::format("{} has an empty list of values", shown(attribute.name)));
}

void read_type(const Reading& reading, ArffAttribute& attribute, const char*& at, const char* line) {
  at = skip_arff_blanks(at, line);
  if (at_arff_end(at, line))
    fail_at(reading, at, fmt::format("the type of attribute {} is missing", shown(attribute.name)));
  if (*at == '{') return read_levels(reading, attribute, at, line);
  const ArffToken token = next_arff_token(reading, at, line);
  attribute.type = lower_case(token.text);
  if (attribute.type == "numeric" || attribute.type == "real" || attribute.type == "integer") {
    at = skip_arff_blanks(at, line);
    if (at < line && *at == '[') at = line;  // a range, as some programs write
    return;
  }
  if (attribute.type != "string" && attribute.type != "date" && attribute.type != "relational")
    fail_at(
        reading, token.at,
        fmt::format("unknown type {} of attribute {}; known are numeric, real, integer, string, date and {{a, b, ...}}",
                    shown(token.text), shown(attribute.name)));
  attribute.kind = ArffAttribute::Kind::text;
  at = line;  // a date's format
}

ArffAttribute read_attribute(const Reading& reading, const char*& at, const char* line) {
  at = skip_arff_blanks(at, line);
  if (at_arff_end(at, line)) fail_at(reading, at, "a name expected behind @attribute");
  if (ends_word(*at))
    fail_at(
        reading, at,
        fmt::format("a name expected behind @attribute, found '{}'; put names with special characters in quotes", *at));
  const ArffToken token = next_arff_token(reading, at, line);
  ArffAttribute attribute;
  attribute.at = token.at;
  attribute.name = checked_name(reading, token.plain(), token.at);
  read_type(reading, attribute, at, line);
  at = skip_arff_blanks(at, line);
  if (!at_arff_end(at, line))
    fail_at(reading, at,
            fmt::format("nothing more expected behind the type of {}, found {}", shown(attribute.name),
                        shown({at, static_cast<std::size_t>(line - at)})));
  return attribute;
}

void add_attribute(const Reading& reading, ArffHeader& header, std::unordered_map<std::string, std::size_t>& seen,
                   ArffAttribute attribute) {
  const auto [before, added] = seen.try_emplace(attribute.name, header.attributes.size() + 1);
  if (!added)
    fail_at(reading, attribute.at,
            fmt::format("there are two attributes {}: number {} and {}", shown(attribute.name), before->second,
                        header.attributes.size() + 1));
  header.attributes.push_back(std::move(attribute));
}

}  // namespace

std::string ArffToken::plain() const {
  if (!escaped) return std::string(text);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      result += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i] == 'r' ? '\r' : text[i];
    } else {
      result += text[i];
    }
  }
  return result;
}

ArffToken next_arff_token(const Reading& reading, const char*& at, const char* line) {
  if (at < line && (*at == '\'' || *at == '"')) return quoted_token(reading, at, line);
  const char* begin = at;
  at = std::find_if(at, line, ends_word);
  return {{begin, static_cast<std::size_t>(at - begin)}, begin, false, false};
}

ArffHeader read_arff_header(const Reading& reading) {
  ArffHeader header;
  std::unordered_map<std::string, std::size_t> seen;
  const char* end = reading.limit();
  for (const char* begin = reading.text.data(); begin < end;) {
    const char* line = line_end(begin, end);
    const char* at = skip_arff_blanks(begin, line);
    begin = std::min(line + 1, end);
    if (at_arff_end(at, line)) continue;
    const ArffToken keyword = next_arff_token(reading, at, line);
    const std::string word = lower_case(keyword.text);
    if (word == "@attribute") {
      add_attribute(reading, header, seen, read_attribute(reading, at, line));
    } else if (word == "@data") {
      header.data = begin;
      if (header.attributes.empty()) fail_at(reading, keyword.at, "@data without any @attribute before it");
      return header;
    } else if (word != "@relation") {
      fail_at(reading, keyword.at,
              fmt::format("@relation, @attribute or @data expected, found {}", shown(keyword.text)));
    }
  }
  fail_at(reading, end, "@data expected, and the file ends");
}

}  // namespace sheaf

#include "snippets/declare.hpp"

#include <algorithm>
#include <regex>

#include "core/fail.hpp"

namespace sheaf::snippets {
namespace {

constexpr std::string_view known_types = "double, float, int and unsigned char";

/// The words of a text; a '*' is a word of its own.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char letter : text) {
    const bool space = letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
    if (letter == '*') words.emplace_back("*");
    if (space || letter == '*') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    words.back() += letter;
    inside = true;
  }
  return words;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == ',')
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  return parts;
}

bool is_name(const std::string& word) {
  static const std::regex name("[A-Za-z_][A-Za-z0-9_]*");
  return std::regex_match(word, name);
}

ElementType type_of(const std::vector<std::string>& words, std::string_view argument) {
  std::string spelled;
  for (const auto& word : words) spelled += (spelled.empty() ? "" : " ") + word;
  if (spelled == "double") return ElementType::float64;
  if (spelled == "float") return ElementType::float32;
  if (spelled == "int") return ElementType::int32;
  if (spelled == "unsigned char" || spelled == "uint8_t") return ElementType::uint8;
  if (spelled.empty()) fail_usage("argument '{}': a parameter needs a type and a name, as in 'double x'", argument);
  fail_usage("argument '{}': '{}' is no type of parameters; known are {}", argument, spelled, known_types);
}

SnippetParameter parse_parameter(const std::string& text, std::string_view argument) {
  auto words = words_of(text);
  if (words.size() < 2) fail_usage("argument '{}': '{}' should be a type and a name, as in 'double x'", argument, text);
  SnippetParameter result;
  result.name = words.back();
  words.pop_back();
  if (!is_name(result.name)) fail_usage("argument '{}': '{}' is no name", argument, result.name);
  for (const std::string_view qualifier : {"const", "__restrict__", "restrict"}) std::erase(words, qualifier);
  result.pointer = std::erase(words, "raw") + std::erase(words, "*") > 0;
  result.type = type_of(words, argument);
  return result;
}

std::vector<SnippetParameter> parse_list(std::string_view text, std::string_view argument) {
  std::vector<SnippetParameter> result;
  for (const auto& part : split_at_commas(text)) {
    result.push_back(parse_parameter(part, argument));
    const auto& name = result.back().name;
    const auto same = [&](const SnippetParameter& other) { return other.name == name; };
    if (std::count_if(result.begin(), result.end(), same) > 1)
      fail_usage("argument '{}': '{}' is declared twice", argument, name);
  }
  return result;
}

/// The text with comments blanked out, so that places stay what they are.
std::string without_comments(std::string_view code) {
  std::string result(code);
  for (std::size_t i = 0; i + 1 < result.size(); ++i) {
    if (result[i] != '/' || (result[i + 1] != '/' && result[i + 1] != '*')) continue;
    const bool line = result[i + 1] == '/';
    auto end = line ? result.find('\n', i) : result.find("*/", i + 2);
    end = end == std::string::npos ? result.size() : end + (line ? 0 : 2);
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(i), result.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }
  return result;
}

}  // namespace

std::vector<SnippetParameter> parse_declarations(std::string_view text, std::string_view argument) {
  auto result = parse_list(text, argument);
  for (const auto& one : result)
    if (one.name == "i" || one.name == "n" || one.name.starts_with("sheaf_"))
      fail_usage("argument '{}': the name '{}' is taken: i is the number of the element, n that of all", argument,
                 one.name);
  return result;
}

std::vector<SnippetParameter> parse_kernel(std::string_view code, std::string_view name) {
  if (!is_name(std::string(name))) fail_usage("argument 'name': '{}' is no name of a function", name);
  const auto text = without_comments(code);
  const std::regex head(
      "__global__\\s+(?:__launch_bounds__\\([^)]*\\)\\s+)?void\\s+(?:__launch_bounds__\\([^)]*\\)\\s+)?" +
      std::string(name) + "\\s*\\(([^)]*)\\)");
  std::smatch found;
  if (!std::regex_search(text, found, head))
    fail_usage("argument 'name': the code has no '__global__ void {}(...)'", name);
  const auto inside = found[1].str();
  if (words_of(inside).empty()) return {};
  return parse_list(inside, "code");
}

}  // namespace sheaf::snippets

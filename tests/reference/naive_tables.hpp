// Readers as plain as can be, to compare the fast ones with: one character at a time, strtod, no threads. They take
// only text without defects.
#pragma once

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace sheaf::reference {

struct NaiveRow {
  std::string label;
  std::string group;
  std::map<int, double> entries;  // by column, from 0
};
using NaiveTable = std::vector<NaiveRow>;

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline NaiveTable naive_libsvm(const std::string& text) {
  NaiveTable table;
  for (const std::string& line : lines_of(text)) {
    std::istringstream words(line.substr(0, line.find('#')));
    NaiveRow row;
    if (!(words >> row.label)) continue;
    for (std::string word; words >> word;) {
      const auto colon = word.find(':');
      const std::string value = word.substr(colon + 1);
      if (word.substr(0, colon) == "qid")
        row.group = value;
      else
        row.entries[std::atoi(word.c_str()) - 1] = std::strtod(value.c_str(), nullptr);
    }
    table.push_back(row);
  }
  return table;
}

/// The fields of every record, unquoted; lines without any character are no records.
inline std::vector<std::vector<std::string>> naive_csv_records(const std::string& text, char delimiter) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record(1);
  bool quoted = false;
  bool any = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
      record.back() += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      record.back() += c;
    else if (c == delimiter)
      record.emplace_back();
    else if (c == '\n') {
      if (any) records.push_back(record);
      record.assign(1, "");
    } else if (c != '\r')
      record.back() += c;
    any = c == '\n' && !quoted ? false : any || c != '\r';
  }
  return records;
}

/// Without a header; the label is the last column.
inline NaiveTable naive_csv(const std::string& text, char delimiter) {
  NaiveTable table;
  for (const auto& record : naive_csv_records(text, delimiter)) {
    NaiveRow row;
    row.label = record.back();
    for (std::size_t j = 0; j + 1 < record.size(); ++j)
      row.entries[static_cast<int>(j)] = std::strtod(record[j].c_str(), nullptr);
    table.push_back(row);
  }
  return table;
}

/// Rows behind @data of a table of numbers with an unquoted class at the end, dense or sparse.
inline NaiveTable naive_arff(const std::string& text, int attributes) {
  NaiveTable table;
  bool data = false;
  for (std::string line : lines_of(text)) {
    line = line.substr(0, line.find('%'));
    if (line.find("@data") != std::string::npos)
      data = true;
    else if (data && line.find_first_not_of(" \t\r") != std::string::npos) {
      const bool sparse = line.find('{') != std::string::npos;
      for (char& c : line)
        if (c == ',' || c == '{' || c == '}') c = ' ';
      std::istringstream words(line);
      NaiveRow row;
      int j = 0;
      for (std::string word; words >> word; ++j) {
        if (sparse) {
          j = std::atoi(word.c_str());
          words >> word;
        }
        if (j == attributes - 1)
          row.label = word;
        else
          row.entries[j] = std::strtod(word.c_str(), nullptr);
      }
      table.push_back(row);
    }
  }
  return table;
}

}  // namespace sheaf::reference

// LIBLINEAR's way of reading a LIBSVM file, restated: the whole file twice, line by line with getline; the first time
// strtok counts the entries, the second time strtok, strtol and strtod read them into one array of nodes.
#pragma once

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/fail.hpp"

namespace bench {

struct Node {
  int index;
  double value;
};

struct Problem {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> y;
  std::vector<Node*> x;
  std::unique_ptr<Node[]> space;  // every row ends with a node of index -1
};

namespace detail {

/// A file and the line last read from it.
struct Lines {
  explicit Lines(const std::string& path) : file(std::fopen(path.c_str(), "r")) {
    if (file == nullptr) sheaf::fail("{}: {}", path, std::strerror(errno));
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    std::free(line);
    std::fclose(file);
  }
  bool next() { return getline(&line, &capacity, file) >= 0; }

  FILE* file;
  char* line = nullptr;
  std::size_t capacity = 0;
};

inline double to_number(char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0') sheaf::fail("'{}' is no number", text);
  return value;
}

inline Node* read_row(char* line, double& y, Node* node, std::int64_t& columns) {
  y = to_number(std::strtok(line, " \t\n"));
  int previous = 0;
  for (;;) {
    char* index = std::strtok(nullptr, ":");
    char* value = std::strtok(nullptr, " \t");
    if (value == nullptr) break;
    char* end = nullptr;
    errno = 0;
    node->index = static_cast<int>(std::strtol(index, &end, 10));
    if (end == index || errno != 0 || *end != '\0' || node->index <= previous) sheaf::fail("'{}' is no index", index);
    previous = node->index;
    errno = 0;
    node->value = std::strtod(value, &end);
    if (end == value || errno != 0 || (*end != '\0' && std::isspace(static_cast<unsigned char>(*end)) == 0))
      sheaf::fail("'{}' is no number", value);
    ++node;
  }
  if (previous > columns) columns = previous;
  node->index = -1;
  return node + 1;
}

}  // namespace detail

inline Problem read_like_liblinear(const std::string& path) {
  Problem problem;
  detail::Lines lines(path);
  std::size_t nodes = 0;
  for (; lines.next(); ++problem.rows) {
    std::strtok(lines.line, " \t");
    for (const char* token = std::strtok(nullptr, " \t"); token != nullptr && *token != '\n';
         token = std::strtok(nullptr, " \t"))
      ++nodes;
    ++nodes;
  }
  std::rewind(lines.file);
  problem.y.resize(static_cast<std::size_t>(problem.rows));
  problem.x.resize(static_cast<std::size_t>(problem.rows));
  problem.space = std::make_unique_for_overwrite<Node[]>(nodes);
  Node* node = problem.space.get();
  for (std::size_t i = 0; i < problem.x.size() && lines.next(); ++i) {
    problem.x[i] = node;
    node = detail::read_row(lines.line, problem.y[i], node, problem.columns);
  }
  return problem;
}

}  // namespace bench

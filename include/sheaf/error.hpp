// Errors that a user can cause are an Error whose message states what happened, where, and what to do; our own bugs are
// InternalError.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sheaf {

/// Something outside the program is wrong: a file, its contents, the disk. The command line exits with 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The request itself is wrong: an unknown name, a value out of range, a device that is not there. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A stop of the work was requested. Unfinished results are gone; nothing half-written is left.
class Stopped : public Error {
 public:
  Stopped() : Error("stopped") {}
};

/// A bug in Sheaf itself. Exit code 3.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A place in a text file; lines and columns count from 1, and 0 stands for "not known". Columns count bytes.
struct Place {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;
};

/// "file:line:column", leaving out unknown parts.
std::string to_string(const Place& place);

/// "file:line:column: message".
class ParseError : public Error {
 public:
  ParseError(Place place, std::string_view message);
  const Place& place() const { return place_; }

 private:
  Place place_;
};

/// Checks our own code; never for errors that a user can cause.
inline void require(bool condition, const char* what) {
  if (!condition) throw InternalError(what);
}

}  // namespace sheaf

// Messages about a dataset name the file it came from, also those of functions that see only a part of it.
#pragma once

#include <string>
#include <utility>

#include "core/fail.hpp"

namespace sheaf {

/// Returns the result of work(). If its Error does not name the source, the name is put in front of the message.
template <class Work>
auto name_source(const std::string& source, Work&& work) {
  const auto named = [&](const Error& error) {
    return source.empty() || std::string_view(error.what()).find(source) != std::string_view::npos;
  };
  const auto message = [&](const Error& error) { return fmt::format("{}: {}", source, error.what()); };
  try {
    return std::forward<Work>(work)();
  } catch (const ParseError&) {
    throw;
  } catch (const Stopped&) {
    throw;
  } catch (const UsageError& error) {
    if (named(error)) throw;
    throw UsageError(message(error));
  } catch (const Error& error) {
    if (named(error)) throw;
    throw Error(message(error));
  }
}

}  // namespace sheaf

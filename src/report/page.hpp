// The page around the plots: style, tiles, cards, tables, and a script that saves plots. Nothing is loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sheaf::report {

struct Tile {
  std::string value;
  std::string label;
};

std::string tiles(const std::vector<Tile>& list);
/// A section with a heading, a sentence under it, and anything within. `wide` takes the whole width of the page.
std::string card(std::string_view title, std::string_view about, std::string_view content, bool wide = false);
struct Note {
  std::string text;
  bool warning = false;
};
/// A card that lists notes and warnings; empty without any.
std::string notes_card(std::string_view about, const std::vector<Note>& notes);

/// The first row is the head; columns of numbers are those with 'r' in `alignment`. Cells are escaped. `marked`: a row
/// to show; 0: none.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment,
                  std::size_t marked = 0);
/// A plot of the page's width, which narrow windows scroll.
std::string scrolled(std::string_view plot);
/// Coloured marks and their meanings: {css class, text}.
std::string legend(const std::vector<std::pair<std::string, std::string>>& entries);
/// `title` and `subtitle` are escaped, `body` is not.
std::string page(std::string_view title, std::string_view subtitle, std::string_view body, std::string_view footer);

}  // namespace sheaf::report

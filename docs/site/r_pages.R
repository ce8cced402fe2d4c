# Writes one page for each help page of the R package, and a list of them: Rscript r_pages.R MAN OUT
folders <- commandArgs(trailingOnly = TRUE)
out <- file.path(folders[2], "r")
dir.create(out, showWarnings = FALSE)
files <- list.files(folders[1], pattern = "[.]Rd$", full.names = TRUE)
pages <- lapply(files, tools::parse_Rd)
names(pages) <- sub("[.]Rd$", "", basename(files))

tagged <- function(page, tag) Filter(function(part) identical(attr(part, "Rd_tag"), tag), page)
text_of <- function(part) trimws(gsub("\\s+", " ", paste(unlist(part), collapse = "")))
aliases <- lapply(pages, function(page) vapply(tagged(page, "\\alias"), text_of, ""))
links <- unlist(lapply(names(pages), function(name) {
  setNames(rep(paste0(name, ".html"), length(aliases[[name]])), aliases[[name]])
}))

write_page <- function(name) {
  html <- tempfile()
  tools::Rd2HTML(pages[[name]], html, Links = links, Links2 = character())
  lines <- readLines(html, warn = FALSE)
  lines <- lines[(grep("^<h2>", lines)[1] + 1):(grep("</body>", lines)[1] - 2)]
  # Help of other packages is on no page of this site.
  lines <- gsub("<a href=\"[^\"]*(/library/|\\.\\./\\.\\./)[^\"]*\">(.*?)</a>", "\\2", lines, perl = TRUE)
  title <- text_of(tagged(pages[[name]], "\\title")[[1]])
  writeLines(c(paste("#", name), "", title, "", "````{raw} html", lines, "````"), file.path(out, paste0(name, ".md")))
  sprintf("| [%s](r/%s.md) | %s |", name, name, title)
}
rows <- vapply(names(pages), write_page, "")
writeLines(c("# R", "", "The [guide](../docs/r.md) says which function replaces which. Each page below is also `help(NAME)`.", "",
  "| page | content |", "|---|---|", rows, "", "```{toctree}", ":hidden:", "", paste0("r/", names(pages)), "```"), file.path(folders[2], "r.md"))

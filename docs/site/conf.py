"""Settings of Sphinx for the site; make.py runs it over the pages that it collects."""

import importlib.util
import os

project = "Sheaf"
copyright = "The Sheaf developers; Apache License 2.0"
version = release = os.environ["SHEAF_VERSION"]
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
html_theme = "furo"
# Debian's furo comes without the colours of its dark theme.
html_theme_options = {"dark_css_variables": {f"color-{name}": colour for name, colour in {
    "foreground-primary": "#ffffffcc", "foreground-secondary": "#9ca0a5", "foreground-muted": "#81868d", "foreground-border": "#666666",
    "background-primary": "#131416", "background-secondary": "#1a1c1e", "background-hover": "#1e2124ff", "background-hover--transparent": "#1e212400",
    "background-border": "#303335", "background-item": "#444", "announcement-background": "#000000dd", "announcement-text": "#eeebee",
    "brand-primary": "#4c9cff", "brand-content": "#6cb0ff", "highlighted-background": "#083563", "highlight-on-target": "#332300",
    "guilabel-background": "#08356380", "guilabel-border": "#13395f80", "admonition-background": "#18181a", "card-background": "#18181a",
    "card-border": "#1a1c1e", "inline-code-background": "#1a1c1e"}.items()}}
html_title = f"Sheaf {release}"
html_search_scorer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scorer.js")
html_static_path = []
html_extra_path = [path for path in [os.environ["SHEAF_SITE_EXTRA"]] if os.path.isdir(path)]  # Doxygen's pages
html_show_sphinx = False
smartquotes = False  # they make one dash of the two of an option
pygments_style = "default"

if importlib.util.find_spec("sheaf") is not None:
    extensions += ["sphinx.ext.autodoc", "numpydoc"]
    numpydoc_show_class_members = False


def skip_inherited(app, what, name, member, skip, options):
    """Only what this package wrote: scikit-learn has pages of its own."""
    module = getattr(member, "__module__", None) or ""
    return True if module and not module.startswith("sheaf") else None


def setup(app):
    if "sphinx.ext.autodoc" in extensions:
        app.connect("autodoc-skip-member", skip_inherited)

"""Pages of the Python package: PYTHONPATH=build/python sphinx-build -W -b html python/docs OUT"""

import sheaf

project = "Sheaf"
version = release = sheaf.__version__
extensions = ["sphinx.ext.autodoc", "numpydoc"]
numpydoc_show_class_members = False
html_theme = "alabaster"


def skip_inherited(app, what, name, member, skip, options):
    """Only what this package wrote: scikit-learn has pages of its own."""
    module = getattr(member, "__module__", None) or ""
    return True if module and not module.startswith("sheaf") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_inherited)

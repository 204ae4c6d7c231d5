# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
"""How sphinx builds the documentation; the version is that of ib_srpt.h."""
import pathlib
import re

_header = pathlib.Path(__file__).resolve().parent.parent / "ib_srpt.h"

project = "ib_srpt"
author = "the ib_srpt authors"
copyright = author  # pylint: disable=redefined-builtin
release = re.search(r'SRPT_VERSION\s+"(.*)"', _header.read_text(encoding="ascii")).group(1)
version = release

extensions = ["sphinx.ext.graphviz"]
graphviz_output_format = "svg"
exclude_patterns = ["ABI"]
highlight_language = "none"
nitpicky = True
# Two dashes before an option stay two dashes.
smartquotes = False

html_theme = "alabaster"
html_static_path = ["static"]
html_css_files = ["pictures.css"]
html_show_copyright = False
html_show_sourcelink = False
html_theme_options = {"description": "an SRP storage target for Linux", "page_width": "70em"}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}

man_pages = [
    ("man/ib_srpt", "ib_srpt", "SRP storage target for Linux", [author], 4),
    ("man/srptstat", "srptstat", "show what an SRP target does", [author], 8),
]

"""Files and folders as a model reads them without a shell: what it may open, pages of text, listings, searches."""

"""Files and folders as a model reads them without a shell: pages of text, listings, searches."""

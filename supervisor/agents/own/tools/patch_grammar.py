"""The grammar of patches as it is explained to models. Data; `patch.grammar` reads them."""

import re

# Models of these families were trained on the format and need no lesson.
KNOWS_PATCHES = re.compile(r"(^|/)(gpt-4\.1|gpt-5|gpt-oss|o3|o4|codex)")

PATCH_BRIEF = "Edits files by a patch."

PATCH_GRAMMAR = """\
Edits files by a patch. All of a patch is applied, or nothing.

A patch is text of this form:

*** Begin Patch
*** Add File: docs/new.txt
+every line of a new file begins with +
*** Update File: src/app.py
@@ def greet(name):
     # an unchanged line begins with a blank
-    print("hi")
+    print(f"hello {name}")
*** Delete File: old.txt
*** End Patch

Rules:
- Paths are relative to the working directory. A patch may have any number of files.
- To rename a file, put `*** Move to: new/path` below its `*** Update File:` line.
- In an update give three unchanged lines before and after each change, exactly as they are in the file, with their \
indentation. Begin each further place in the same file with a line `@@`.
- If those lines occur more than once, name an earlier line of the file that tells them apart behind `@@`, such as \
the function they are in.
- `*** End of File` behind the lines of a change says that they are the last of the file.
- No line numbers, no `---` or `+++` lines: this is not the output of diff."""

"""Programs for work on Greenroom itself. Nothing here is packaged, and the packages import nothing of it."""

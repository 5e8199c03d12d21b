"""Programs for those who work on Greenroom. Nothing here is packaged, and the packages import nothing of it."""

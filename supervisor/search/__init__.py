"""Search over all histories: a file of its own beside the journal, which it follows at its own pace.

Nothing is lost with this file: it is made again from the journal when it is missing, damaged or of another version.
"""

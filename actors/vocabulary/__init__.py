"""The types that all packages share: ids, events, settings, answers, errors, records. Leaves, with little logic."""

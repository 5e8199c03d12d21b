"""Words that everybody uses: ids, events, settings, answers, errors, records. Leaves, without logic of their own."""

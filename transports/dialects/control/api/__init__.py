"""The shapes of the control API: params, answers, notifications, and the subscriptions of a connection."""

"""The end of a turn for want of budget, on its way from the backend to the runner."""


class OverBudget(Exception):  # no error: the turn ends as it was told to
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

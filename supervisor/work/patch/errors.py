"""Errors of patches. The text is for the model; after most of them nothing was written.

PatchError
├── PatchSyntax      the text is not a patch
├── PatchTooLarge    it would cost more than a bound allows
├── PatchMismatch    it does not fit the files as they are
├── PatchStale       a file changed between verification and applying
└── PatchFailed      the disk refused; everything was put back, or the text names the exceptions
"""

from actors.vocabulary.errors import GreenroomError

LONGEST = 8 * 1024  # characters; some texts quote the patch, and each is sent with every later request


class PatchError(GreenroomError):
    code = "patch"

    def __init__(self, message: str, **details: object) -> None:
        if len(message) > LONGEST:
            message = (
                f"{message[: LONGEST // 2]} [… {len(message) - LONGEST} characters …] {message[-LONGEST // 2 :]}"
            )
        super().__init__(message, **details)


class PatchSyntax(PatchError):
    code = "patch_syntax"


class PatchTooLarge(PatchError):
    code = "patch_too_large"


class PatchMismatch(PatchError):
    code = "patch_mismatch"


class PatchStale(PatchError):
    code = "patch_stale"


class PatchFailed(PatchError):
    code = "patch_failed"


def os_error_text(error: OSError) -> str:
    return f"{error.strerror} (os error {error.errno})"

"""An error in an input file."""

import msgspec


class ManifestProblem(msgspec.Struct, frozen=True):
    """One error in an input file."""

    source: str  # the file, URL or `standard input`
    message: str
    document: int = 0  # the number of the document in the file, from 1; 0 for the whole file
    field: str = ""  # the field, such as `spec.containers[0].name`; empty for the whole document

    @property
    def place(self) -> str:
        """The place of the error, from the file to the field."""
        document = f"document {self.document}" if self.document else ""
        return ", ".join(filter(None, (self.source, document, self.field)))

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"

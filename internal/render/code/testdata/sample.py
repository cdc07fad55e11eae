"""A module
with a docstring over lines."""
from __future__ import annotations
import re as regex

@decorator(option=True)
class Walker(Base, metaclass=Meta):
    '''Single quoted
    docstring with "quotes" # and no comment.'''

    limit: int = 0o17 + 0xFF + 1_000j

    async def walk(self, *args, **kwargs) -> dict[str, int]:
        # a comment
        text = f"{self.limit!r:>{10}} and {args[0]['key']}" + r'\d+\s' + b"\x00".decode()
        async with self.open() as handle, other:
            return {k: v for k, v in kwargs.items() if v is not None}
        raise ValueError("""triple
        quoted %s""" % text) from None

def main():
    match command.split():
        case ["go", direction] if direction in ("n", 's'):
            lambda x: x ** 2 // 3
        case _:
            print('done', file=sys.stderr)

# What has no stubs here is not checked.
from typing import Any

def __getattr__(name: str) -> Any: ...

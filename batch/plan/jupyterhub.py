"""The names of JupyterHub's user pods, read back into the user, or on a BinderHub into the repository.

KubeSpawner calls a pod `jupyter-USER` or `jupyter-USER--SERVER`. Up to version 6 every character of USER outside a-z and 0-9
is escaped as the hyphen and its UTF-8 bytes in hexadecimal ("-2d" is a hyphen; escapism); since version 7 a USER that is a valid object
name stands as it is, and any other is shortened and followed by `---` and 8 hexadecimal digits of a hash (kubespawner/slugs.py, 7.0).
BinderHub makes a user for each launch, named after the repository and ended by a hyphen and 8 random characters
(binderhub/launcher.py, unique_name_from_repo).
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

import pandas as pd

from batch.snapshot.views import TEXT

USER_LABEL = ("component", "singleuser-server")
"""The label that JupyterHub's Helm chart puts on every user pod (zero-to-jupyterhub, values.yaml)."""

_HASH = "---[0-9a-f]{8}"
_NAME = re.compile(rf"jupyter-(?P<user>.+?)(?P<hash>{_HASH})?(?:--[^-].*?(?P<joint_hash>{_HASH})?)?")
_ESCAPE = re.compile(rb"-([0-9a-f]{2})")
_UNESCAPED = frozenset(string.ascii_lowercase + string.digits)
_ENDING = re.compile("-[a-z0-9]{8}$")
_BINDER_SHARE = 0.9
"""Share of a BinderHub's users that end in the random characters: of a few, shortening before the hash has cut them off."""


def owners(pods: pd.DataFrame) -> pd.Series:
    """Give whose each user pod is: the user's, or in a namespace that is a BinderHub's the repository's. `pods` has namespace and pod."""
    users = pods["pod"].map(user_of).astype(TEXT)
    by_hub = users.groupby(pods["namespace"])
    binders = [namespace for namespace, names in by_hub if is_binder(names.tolist())]
    return users.mask(pods["namespace"].isin(binders), users.str.replace(_ENDING.pattern, "", regex=True))


def user_of(pod: str) -> str:
    """Decode the user from the name of a pod; the name itself when it was made by another template."""
    match = _NAME.fullmatch(pod)
    if match is None:
        return pod
    hashed = match["hash"] or match["joint_hash"]
    return match["user"] if hashed else _unescaped(match["user"])


def is_binder(users: Sequence[str]) -> bool:
    """Tell a hub whose users are launches: their names end in 8 characters, most of them with a digit.

    Of random endings 1 - (26/36)^8 = 93 % have a digit; of people's names few do.
    """
    endings = [match[0] for user in users if (match := _ENDING.search(user))]
    with_digit = sum(any(character.isdigit() for character in ending) for ending in endings)
    return len(endings) >= _BINDER_SHARE * len(users) and 2 * with_digit > len(users)


def _unescaped(name: str) -> str:
    """Undo the escaping of versions before 7; a name that cannot be its result (user names are lower case) stands as it is."""
    try:
        text = _ESCAPE.sub(lambda match: bytes.fromhex(match[1].decode()), name.encode()).decode()
    except UnicodeDecodeError:
        return name
    return text if text.isprintable() and text == text.lower() and _escaped(text) == name else name


def _escaped(text: str) -> str:
    return "".join(c if c in _UNESCAPED else "".join(f"-{byte:02x}" for byte in c.encode()) for c in text)

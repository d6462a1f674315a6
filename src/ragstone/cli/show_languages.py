"""`ragstone show --languages`: languages of retrieved passages, and queries across languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.cli.options import print_result
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.results.results import Results


def print_languages(results: Results) -> None:
    """Print the tables of languages.

    Raises:
        ConfigError: the data set has neither passages in several languages nor translations.
    """
    from ragstone.results.languages import language_tables, retrieved_languages
    from ragstone.results.parallel import parallel_agreement, parallel_tables

    retrieved, parallel = retrieved_languages(results), parallel_agreement(results)
    if not retrieved and not parallel:
        raise ConfigError(
            f"{results.name}: --languages needs passages with the label 'language' in two or more "
            "languages, or queries with the label 'parallel' that translations share"
        )
    print_result(
        lambda: {
            "retrieved": [row.to_dict() for row in retrieved],
            "parallel": parallel,
        },
        lambda: "\n\n".join(map(str, [*language_tables(retrieved), *parallel_tables(parallel)])),
    )

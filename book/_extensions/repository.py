"""The repository's address, which `_config.yml` sets, and the links derived from it."""

from dataclasses import dataclass
from pathlib import Path

import yaml
from sphinx.config import Config


@dataclass(frozen=True)
class Repository:
    url: str
    branch: str

    @classmethod
    def of(cls, root: Path) -> "Repository":
        """Read the repository from the settings in a folder."""
        text = (root / "_config.yml").read_text(encoding="utf-8")
        settings = yaml.safe_load(text)["repository"]
        return cls(settings["url"].rstrip("/"), settings["branch"])

    @property
    def owner_and_name(self) -> str:
        return self.url.removeprefix("https://github.com/")

    @property
    def pages(self) -> str:
        """The address at which GitHub publishes the repository's site."""
        owner, name = self.owner_and_name.split("/")
        site = f"{owner.lower()}.github.io"
        return f"https://{site}/" if name.lower() == site else f"https://{site}/{name}/"

    def file(self, path: str) -> str:
        return f"{self.url}/blob/{self.branch}/{path}"

    def colab(self, path: str) -> str:
        place = f"{self.owner_and_name}/blob/{self.branch}/{path}"
        return f"https://colab.research.google.com/github/{place}"

    def kaggle(self, path: str) -> str:
        return f"https://kaggle.com/kernels/welcome?src={self.file(path)}"

    def binder(self, path: str) -> str:
        place = f"{self.owner_and_name}/{self.branch}?urlpath=lab/tree/{path}"
        return f"https://mybinder.org/v2/gh/{place}"


def repository_of(config: Config) -> Repository:
    options = config.html_theme_options
    return Repository(options["repository_url"], options["repository_branch"])

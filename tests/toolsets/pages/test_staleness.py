"""Whether a page still says what its sources do, shown by real changes to files, with git and without."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shirube.toolsets.pages import schema
from shirube.toolsets.pages.service import PagesService

DAY = 86_400
Open = Callable[[Path], PagesService]


def state(service: PagesService, filepath: str = "page.md") -> tuple[str, dict[str, str]]:
    service.site.read()
    page = service.get_page(schema.GetPageInput(filepath=filepath))
    assert page.stale_refs == list(page.stale_reasons or {})
    return page.staleness, dict(page.stale_reasons or {})


def written(path: Path, text: str, days_ago: float = 0.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    aged(path, days_ago)


def aged(path: Path, days_ago: float) -> None:
    moment = time.time() - days_ago * DAY
    os.utime(path, (moment, moment))


def page_about(*sources: str) -> str:
    return "---\nsource_refs:\n" + "".join(f"  - {each}\n" for each in sources) + "---\n# 頁\n\n本文。\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    written(tmp_path / "src" / "a.py", "a = 1\n", 30)
    written(tmp_path / "src" / "b.py", "b = 1\n", 30)
    written(tmp_path / "docs" / "page.md", page_about("src/a.py", "src/b.py"), 20)
    return tmp_path


class TestWithoutGit:
    def test_a_page_without_sources_is_untracked(self, project: Path, opened: Open) -> None:
        written(project / "docs" / "page.md", "# 頁\n")
        assert state(opened(project / "docs")) == ("untracked", {})

    def test_unchanged_sources_are_fresh_even_when_touched(self, project: Path, opened: Open) -> None:
        service = opened(project / "docs")
        assert state(service) == ("fresh", {})
        aged(project / "src" / "a.py", 0)
        assert state(service) == ("fresh", {})
        assert state(opened(project / "docs")) == ("fresh", {})

    def test_a_recent_change_makes_it_possibly_stale_and_an_old_one_stale(
        self, project: Path, opened: Open
    ) -> None:
        service = opened(project / "docs")
        assert state(service)[0] == "fresh"
        written(project / "src" / "a.py", "a = 2\n", 6.9)
        assert state(service) == ("possibly_stale", {"src/a.py": "modified"})
        aged(project / "src" / "a.py", 7.1)
        assert state(service) == ("stale", {"src/a.py": "modified"})

    def test_a_source_written_after_the_page_is_seen_at_the_first_reading(
        self, project: Path, opened: Open
    ) -> None:
        aged(project / "src" / "a.py", 10)
        assert state(opened(project / "docs")) == ("stale", {"src/a.py": "modified"})

    def test_deleted_and_missing_sources_are_told_apart(self, project: Path, opened: Open) -> None:
        written(project / "docs" / "page.md", page_about("src/a.py", "src/無い.py"), 1)
        service = opened(project / "docs")
        assert state(service) == ("possibly_stale", {"src/無い.py": "not_found"})
        (project / "src" / "a.py").unlink()
        assert state(service)[1] == {"src/a.py": "deleted", "src/無い.py": "not_found"}

    def test_an_edit_of_the_page_makes_it_fresh_again(self, project: Path, opened: Open) -> None:
        service = opened(project / "docs")
        state(service)
        written(project / "src" / "a.py", "a = 2\n", 1)
        assert state(service)[0] == "possibly_stale"
        written(project / "docs" / "page.md", page_about("src/a.py", "src/b.py") + "追記。\n")
        assert state(service) == ("fresh", {})

    @pytest.mark.parametrize(
        "reference", ["../秘密.py", "/etc/passwd", "src/../../x", "C:\\x.py", "~/x", "."]
    )
    def test_a_source_outside_the_project_is_refused_with_a_warning(
        self, project: Path, opened: Open, reference: str
    ) -> None:
        written(project / "docs" / "page.md", page_about(f"'{reference}'"))
        service = opened(project / "docs")
        assert state(service) == ("untracked", {})
        warnings = service.get_page(schema.GetPageInput(filepath="page.md")).warnings
        assert warnings
        assert "not inside the project" in warnings[0]

    def test_a_folder_and_too_many_sources_are_said(self, project: Path, opened: Open) -> None:
        written(project / "docs" / "page.md", page_about("src", *(f"src/x{at}.py" for at in range(300))))
        warnings = str(opened(project / "docs").get_page(schema.GetPageInput(filepath="page.md")).warnings)
        assert "src is a folder" in warnings
        assert "only the first 200" in warnings

    def test_a_link_out_of_the_project_is_not_followed(self, project: Path, opened: Open) -> None:
        outside = project.parent / f"{project.name}-outside.py"
        outside.write_text("secret\n")
        (project / "src" / "link.py").symlink_to(outside)
        written(project / "docs" / "page.md", page_about("src/link.py"))
        assert state(opened(project / "docs")) == ("untracked", {})


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
class TestInAWorkTree:
    @pytest.fixture
    def repository(self, project: Path) -> Path:
        self.git(project, "init", "-q")
        self.commit(project, 40)
        return project

    @staticmethod
    def git(project: Path, *arguments: str, days_ago: float = 0.0) -> None:
        moment = f"{int(time.time() - days_ago * DAY)} +0900"
        environ = {
            **os.environ,
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        command = ["git", "-c", "user.name=標", "-c", "user.email=s@example.jp", *arguments]
        subprocess.run(command, cwd=project, check=True, env=environ, capture_output=True)

    def commit(self, project: Path, days_ago: float) -> None:
        self.git(project, "add", "-A")
        self.git(project, "commit", "-q", "-m", "変更", days_ago=days_ago)

    def test_files_are_as_old_as_their_commits_whatever_their_times_say(
        self, repository: Path, opened: Open
    ) -> None:
        aged(repository / "src" / "a.py", 0)
        assert state(opened(repository / "docs")) == ("fresh", {})

    @pytest.mark.parametrize(("days", "level"), [(6.9, "possibly_stale"), (7.1, "stale")])
    def test_the_age_of_a_change_is_that_of_its_commit(
        self, repository: Path, opened: Open, days: float, level: str
    ) -> None:
        written(repository / "src" / "a.py", "a = 2\n")
        self.commit(repository, days)
        service = opened(repository / "docs")
        assert state(service) == (level, {"src/a.py": "modified"})
        [(_, found)] = service.stale_pages()
        assert found.refs[0].commits == 1

    def test_a_page_committed_later_is_fresh(self, repository: Path, opened: Open) -> None:
        written(repository / "src" / "a.py", "a = 2\n")
        self.commit(repository, 9)
        written(repository / "docs" / "page.md", page_about("src/a.py") + "追記。\n")
        self.commit(repository, 8)
        assert state(opened(repository / "docs")) == ("fresh", {})

    def test_a_change_that_was_taken_back_is_none(self, repository: Path, opened: Open) -> None:
        written(repository / "src" / "a.py", "a = 2\n")
        self.commit(repository, 9)
        written(repository / "src" / "a.py", "a = 1\n")
        self.commit(repository, 8)
        assert state(opened(repository / "docs")) == ("fresh", {})

    def test_what_is_not_committed_counts_too(self, repository: Path, opened: Open) -> None:
        service = opened(repository / "docs")
        written(repository / "src" / "a.py", "a = 2\n")
        assert state(service) == ("possibly_stale", {"src/a.py": "modified"})
        (repository / "src" / "b.py").unlink()
        assert state(service)[1] == {"src/a.py": "modified", "src/b.py": "deleted"}

    def test_a_commit_is_seen_without_a_restart(self, repository: Path, opened: Open) -> None:
        service = opened(repository / "docs")
        assert state(service)[0] == "fresh"
        written(repository / "src" / "a.py", "a = 3\n")
        self.commit(repository, 10)
        assert state(service) == ("stale", {"src/a.py": "modified"})

    def test_a_page_in_hand_is_judged_by_what_is_in_hand(self, repository: Path, opened: Open) -> None:
        written(repository / "src" / "a.py", "a = 2\n")
        self.commit(repository, 10)
        written(repository / "docs" / "page.md", page_about("src/a.py") + "書きかけ。\n")
        assert state(opened(repository / "docs")) == ("fresh", {})

    def test_line_ends_of_windows_and_large_files_kept_elsewhere_are_no_change(
        self, repository: Path, opened: Open
    ) -> None:
        large = b"large file\n" * 1000
        pointer = (
            "version https://git-lfs.github.com/spec/v1\n"
            f"oid sha256:{hashlib.sha256(large).hexdigest()}\nsize {len(large)}\n"
        )
        written(repository / "src" / "large.bin", pointer)
        written(repository / "docs" / "page.md", page_about("src/a.py", "src/large.bin"))
        self.commit(repository, 5)
        (repository / "src" / "a.py").write_bytes(b"a = 1\r\n")
        (repository / "src" / "large.bin").write_bytes(large)
        service = opened(repository / "docs")
        assert state(service) == ("fresh", {})
        (repository / "src" / "large.bin").write_bytes(large + b"more")
        assert state(service) == ("possibly_stale", {"src/large.bin": "modified"})

    def test_no_program_that_the_project_names_is_run(self, repository: Path, opened: Open) -> None:
        ran = repository.parent / f"{repository.name}-ran"
        for name in ("filter.x.smudge", "filter.x.clean", "core.fsmonitor", "diff.x.textconv"):
            self.git(repository, "config", name, f"touch '{ran}'; cat")
        written(repository / ".gitattributes", "* filter=x diff=x\n")
        written(repository / "src" / "a.py", "a = 5\n")
        assert state(opened(repository / "docs"))[0] == "possibly_stale"
        assert not ran.exists()

    def test_a_signature_is_not_checked_and_breaks_nothing(self, repository: Path, opened: Open) -> None:
        ran = repository.parent / f"{repository.name}-ran"
        program = repository.parent / f"{repository.name}-gpg"
        program.write_text(
            f"#!/bin/sh\ncat >/dev/null\ntouch '{ran}'\necho '[GNUPG:] SIG_CREATED D 1 8 00 1 X' >&2\n"
            "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n"
        )
        program.chmod(0o755)
        self.git(repository, "config", "gpg.program", str(program))
        self.git(repository, "config", "log.showSignature", "true")
        written(repository / "src" / "a.py", "a = 2\n")
        self.git(repository, "add", "-A")
        self.git(repository, "commit", "-q", "-S", "-m", "署名", days_ago=9)
        ran.unlink()
        assert state(opened(repository / "docs")) == ("stale", {"src/a.py": "modified"})
        assert not ran.exists()

    def test_a_page_that_was_only_renamed_is_as_old_as_before(self, repository: Path, opened: Open) -> None:
        written(repository / "src" / "a.py", "a = 2\n")
        self.commit(repository, 9)
        self.git(repository, "mv", "docs/page.md", "docs/別名.md")
        self.commit(repository, 1)
        assert state(opened(repository / "docs"), "別名.md") == ("stale", {"src/a.py": "modified"})

    def test_a_shallow_clone_says_that_it_cannot_tell(self, repository: Path, opened: Open) -> None:
        written(repository / "src" / "a.py", "a = 2\n")
        self.commit(repository, 9)
        clone = repository.parent / f"{repository.name}-clone"
        self.git(repository, "clone", "-q", "--depth", "1", repository.as_uri(), str(clone))
        service = opened(clone / "docs")
        assert service.site.sources.is_shallow
        assert "shallow" in str(service.get_page(schema.GetPageInput(filepath="page.md")).warnings)
        assert not opened(repository / "docs").site.sources.is_shallow

    def test_a_folder_that_git_ignores_is_no_part_of_the_project_around_it(
        self, repository: Path, opened: Open
    ) -> None:
        written(repository / ".gitignore", ".demo\n")
        written(repository / ".demo" / "src" / "a.py", "a = 1\n", 30)
        written(repository / ".demo" / "docs" / "page.md", page_about("src/a.py"), 20)
        service = opened(repository / ".demo" / "docs")
        assert service.site.folder.root == repository / ".demo"
        assert state(service) == ("fresh", {})

    def test_the_environment_of_another_repository_changes_nothing(
        self, repository: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", "/")
        service = opened(repository / "docs")
        assert service.site.folder.root == repository
        assert state(service) == ("fresh", {})

    def test_the_state_is_hidden_from_git(self, repository: Path, opened: Open) -> None:
        state(opened(repository / "docs"))
        assert (repository / ".shirube").is_dir()
        shown = subprocess.run(
            ["git", "status", "--porcelain"], cwd=repository, check=True, capture_output=True
        ).stdout
        assert shown == b""

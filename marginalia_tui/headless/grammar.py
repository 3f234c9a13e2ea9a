"""The grammar of the headless verbs. It imports nothing but argparse."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    Group = argparse._SubParsersAction[argparse.ArgumentParser]


class Add(Protocol):
    """Adds a verb to a group of verbs, or to those of the program."""

    def __call__(self, name: str, text: str, under: "Group | None" = None) -> argparse.ArgumentParser:
        """The parser of the new verb."""
        ...


def build(version: str) -> argparse.ArgumentParser:
    """The whole grammar."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help="the folder of the studio")
    shared.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="answer with JSON")
    top = argparse.ArgumentParser(
        prog="marginalia",
        description="A writing studio in the terminal. Without a verb it opens.",
        epilog="`marginalia VERB --help` tells about one verb; /help in the studio has the manual.",
    )
    top.add_argument("--version", action="version", version=f"marginalia {version}")
    top.add_argument("--home", metavar="DIR", default=None, help="the folder of the studio")
    top.add_argument("--json", action="store_true", default=False, help="answer with JSON")
    verbs = top.add_subparsers(dest="verb", metavar="VERB")

    def add(name: str, text: str, under: "Group | None" = None) -> argparse.ArgumentParser:
        return (under or verbs).add_parser(name, help=text, description=text, parents=[shared])

    _books(add)
    _models(add, verbs)
    _agents(add, verbs)
    _runs(add, verbs)
    return top


_SETS = "safe, all, proofread, read, notes, write, lore"
_FORMATS = ("markdown", "text", "epub", "docx", "chat", "card", "backup", "folder", "longform")


def _books(add: Add) -> None:
    demo = add("demo", "the main job on a sample book, with no key and no network")
    demo.add_argument("--headless", action="store_true", help="without a screen")
    demo.add_argument("--keep", metavar="DIR", help="keep the home of the demo in this folder")
    load = add("import", "bring a book in from a file or a folder")
    load.add_argument("path", metavar="PATH")
    load.add_argument("--title", help="instead of the one that is found")
    load.add_argument("--format", choices=(*_FORMATS, "novelwriter"), help="instead of the recognised one")
    load.add_argument("--level", type=int, choices=range(1, 7), help="the level of the headings that part a book")
    save = add("export", "write a book to a file or a folder")
    save.add_argument("book", metavar="BOOK")
    save.add_argument("--format", required=True, choices=_FORMATS)
    save.add_argument("--output", required=True, metavar="PATH")
    save.add_argument("--force", action="store_true", help="overwrite what is there")
    add("books", "list the books")
    line = add("exec", "run one command line, such as '/list-parts'")
    line.add_argument("--book", metavar="BOOK")
    line.add_argument("--yes", action="store_true", help="answer questions with yes")
    line.add_argument("line", metavar="LINE")
    shell = add("shell", "type commands line by line, or run those of a pipe")
    shell.add_argument("--book", metavar="BOOK", help="without it the one that was opened last")
    shell.add_argument("--yes", action="store_true", help="answer questions with yes")
    shell.add_argument("--plain", action="store_true", help="without moving the cursor, as in a dumb terminal")
    commands = add("commands", "list the commands, or show one")
    commands.add_argument("name", metavar="NAME", nargs="?")
    doctor = add("doctor", "check terminal, store, models and disk, and say what to do")
    doctor.add_argument("--compact", action="store_true", help="drop old versions that the limit of a book hides")


def _models(add: Add, verbs: "Group") -> None:
    group = verbs.add_parser("model", help="the language models").add_subparsers(
        dest="action", metavar="ACTION", required=True
    )
    for name, text in (("add", "add a model"), ("set", "change a model")):
        model = add(name, text, group)
        model.add_argument("name", metavar="NAME")
        needed = name == "add"
        model.add_argument("--base-url", required=needed, metavar="URL", help="such as http://127.0.0.1:8080/v1")
        model.add_argument("--model", required=needed, metavar="ID", help="under which the server knows it")
        model.add_argument("--provider", choices=("openai",), default=None)
        model.add_argument("--api-key-env", metavar="VAR", help="the environment variable that holds the key")
        model.add_argument("--context", type=int, metavar="N", help="tokens that fit")
        model.add_argument("--max-output", type=int, metavar="N", help="tokens of one answer")
        model.add_argument("--temperature", type=float, metavar="X")
        model.add_argument("--top-p", type=float, metavar="X")
        model.add_argument("--concurrent", type=int, metavar="N", help="requests at once")
        model.add_argument("--images", action=argparse.BooleanOptionalAction, default=None, help="it sees images")
        model.add_argument("--price-in", type=float, metavar="X", help="of a million tokens of the prompt")
        model.add_argument("--price-out", type=float, metavar="Y", help="of a million tokens of the answer")
        model.add_argument("--timeout", type=float, metavar="S", help="seconds without a chunk")
        toggle = argparse.BooleanOptionalAction
        model.add_argument("--answers-with-call", action=toggle, default=None, help="each answer has to hold a call")
        model.add_argument("--stream", action=toggle, default=None, help="answers come in pieces")
    add("list", "list the models", group)
    for name, text in (("show", "show a model"), ("remove", "remove a model"), ("test", "ask it for a short answer")):
        add(name, text, group).add_argument("name", metavar="NAME")


def _agents(add: Add, verbs: "Group") -> None:
    group = verbs.add_parser("agent", help="the agents").add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (("add", "add an agent"), ("set", "change an agent")):
        agent = add(name, text, group)
        agent.add_argument("name", metavar="NAME")
        if name == "add":
            agent.add_argument("--book", required=True, metavar="BOOK")
        else:
            agent.add_argument("--rename", metavar="NAME", help="another name")
            agent.add_argument("--enabled", action=argparse.BooleanOptionalAction, default=None)
        agent.add_argument("--model", required=name == "add", metavar="MODEL")
        task = agent.add_mutually_exclusive_group()
        task.add_argument("--instructions", metavar="TEXT", help="the task")
        task.add_argument("--instructions-file", metavar="FILE", help="a file that holds the task")
        agent.add_argument("--system-prompt-file", metavar="FILE", help="replaces the studio's own system prompt")
        agent.add_argument(
            "--compaction-prompt-file", metavar="FILE", help="replaces the studio's own prompt for summaries"
        )
        agent.add_argument("--commands", metavar="LIST", help=f"names separated by commas, or {_SETS}")
        agent.add_argument("--destructive", choices=("deny", "ask", "auto"))
        agent.add_argument("--batch", choices=("batched", "single", "free"), help="calls in one answer")
        agent.add_argument("--language", metavar="CODE")
        agent.add_argument("--max-rounds", type=int, metavar="N")
        agent.add_argument("--token-budget", type=int, metavar="N")
        agent.add_argument("--max-cost", type=float, metavar="X", help="of a run, at the prices of its model")
        agent.add_argument("--max-minutes", type=float, metavar="N", help="that a run is worked")
        agent.add_argument("--context-cap", type=int, metavar="N")
        agent.add_argument("--auto-compact", type=int, metavar="PERCENT", help="of the context, 50 to 99; 0 is never")
    add("list", "list the agents", group)
    clone = add("clone", "the same agent on another book", group)
    clone.add_argument("name", metavar="NAME")
    clone.add_argument("--book", required=True, metavar="BOOK")
    clone.add_argument("--as", dest="new_name", required=True, metavar="NAME", help="the name of the clone")
    for name, text in (("show", "show an agent"), ("remove", "remove an agent with its runs")):
        add(name, text, group).add_argument("name", metavar="NAME")


def _runs(add: Add, verbs: "Group") -> None:
    group = verbs.add_parser("run", help="the runs of agents").add_subparsers(
        dest="action", metavar="ACTION", required=True
    )
    start = add("start", "start a run and work it until it rests", group)
    start.add_argument("agent", metavar="AGENT")
    start.add_argument("--message", metavar="TEXT", default="")
    add("list", "list the runs, newest first", group)

    def of_run(name: str, text: str) -> argparse.ArgumentParser:
        verb = add(name, text, group)
        verb.add_argument("run", metavar="RUN", help="a uuid, a unique beginning of one, or latest")
        return verb

    work = of_run("work", "take up a run that nobody works")
    way = work.add_mutually_exclusive_group()
    way.add_argument("--take-over", action="store_true", help="take it from a process that hangs")
    way.add_argument("--detached", action="store_true", help="in a process that needs no terminal")
    of_run("attach", "follow a run that another process works")
    send = of_run("send", "say something to the agent")
    send.add_argument("text", metavar="TEXT")
    command = of_run("command", "run a command of your own inside a run")
    command.add_argument("line", metavar="LINE", help="such as '/list-parts'")
    resume = of_run("resume", "have a paused or stopped run go on")
    resume.add_argument("--note", metavar="TEXT", default="")
    resume.add_argument("--rounds", type=int, metavar="N", help="let this run make N rounds in all; 0 is no limit")
    resume.add_argument("--tokens", type=int, metavar="N", help="let it use N tokens in all")
    resume.add_argument("--money", type=float, metavar="X", help="let it cost X in all")
    resume.add_argument("--minutes", type=float, metavar="N", help="let it work N minutes in all")
    pause = of_run("pause", "pause at the next stable point")
    pause.add_argument("--now", action="store_true", help="give up the request that goes on")
    stop = of_run("stop", "end a run")
    how = stop.add_mutually_exclusive_group(required=True)
    how.add_argument("--keep", action="store_true", help="keep the work for a review")
    how.add_argument("--discard", action="store_true", help="throw the work away")
    of_run("finish", "declare a run that waits to be done")
    of_run("show", "show a run")
    transcript = of_run("transcript", "show what was said and done")
    transcript.add_argument("--thread", metavar="T", default="")
    transcript.add_argument("--markdown", action="store_true")
    queue = of_run("queue", "the messages and commands that wait")
    what = queue.add_mutually_exclusive_group()
    what.add_argument("--cancel", type=int, metavar="ID", help="take it back")
    what.add_argument("--force", type=int, metavar="ID", help="cut off what goes on, so that it is delivered now")
    _look_into(add, of_run, group)
    approve = of_run("approve", "allow a call that waits")
    approve.add_argument("call", metavar="CALL")
    approve.add_argument("--always", action="store_true", help="and this command for the rest of the run")
    deny = of_run("deny", "refuse a call that waits")
    deny.add_argument("call", metavar="CALL")
    deny.add_argument("--why", metavar="TEXT", default="")
    for verb in (send, command, resume, approve, deny):
        verb.add_argument("--detach", action="store_true", help="only leave it; nobody works here")
    of_run("review", "show what a run changed")
    apply = of_run("apply", "take over what a run changed")
    which = apply.add_mutually_exclusive_group(required=True)
    which.add_argument("--all", action="store_true")
    which.add_argument("--pick", nargs="+", metavar="ID[:FIELD]")
    apply.add_argument("--take", choices=("agent", "book"), help="for conflicts")
    apply.add_argument("--text", nargs="+", metavar="ID:FIELD=FILE", default=[], help="a text of your own")


def _look_into(add: Add, of_run: Callable[[str, str], argparse.ArgumentParser], group: "Group") -> None:
    for name, text in (
        ("diagnostics", "tell what a run did: rounds, tools, errors, what was slow"),
        ("context", "show what the model reads with its next request, part by part"),
    ):
        verb = of_run(name, text)
        verb.add_argument("--markdown", action="store_true", help="the page, with --json too")
    findings = add("findings", "list what agents reported", group)
    findings.add_argument("run", metavar="RUN", nargs="?", help="a uuid, a unique beginning of one, or latest")
    findings.add_argument("--book", metavar="BOOK", help="of a book, also when its agents are gone")
    findings.add_argument("--of", choices=("run", "agent", "book"), default="run", help="whose findings")
    findings.add_argument("--delete", metavar="ID", help="delete one for good, then list the others")
    export = of_run("export", "write a run as one Markdown file")
    export.add_argument("--output", metavar="F", required=True)
    export.add_argument("--force", action="store_true", help="replace a file that is there")

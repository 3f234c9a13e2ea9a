from marginalia_tui.widgets.terminalnotice import sequence


def test_the_sequences_of_terminals() -> None:
    assert sequence("off", "Corrector", "is done") == ""
    assert sequence("osc9", "Corrector", "is done") == "\x1b]9;Corrector: is done\x07"
    assert sequence("osc777", "Corrector", "is done") == "\x1b]777;notify;Corrector;is done\x07"
    assert sequence("osc9", "C", "d", tmux=True) == "\x1bPtmux;\x1b\x1b]9;C: d\x07\x1b\\"


def test_no_word_ends_or_begins_a_sequence() -> None:
    made = sequence("osc777", "a;b\x07\x1b]0;title\x07", "c\x9cd\n" + "x" * 500)
    assert made.count("\x1b") == made.count("\x07") == 1
    assert made.count(";") == 3
    assert len(made) < 450

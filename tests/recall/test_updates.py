"""Supposed updates: told by words, of pairs that were invented and of others beside them."""

from __future__ import annotations

import pytest

from bench.__main__ import main
from bench.updates import NEWS, PRECISION, RECALL, RETOLD, pairs, told
from vault_tool.recall.updates import changed


def test_of_the_pairs_set_aside_nearly_all_that_are_told_are_updates_and_most_are_told() -> None:
    aside = told([pair for pair in pairs() if pair.aside])
    assert aside.precision >= PRECISION
    assert aside.recall >= RECALL


@pytest.mark.parametrize(("aside", "least"), [(False, 0.68), (True, 0.36)])
def test_of_pairs_that_are_told_in_other_words_nearly_all_that_are_told_are_updates(aside: bool, least: float) -> None:
    retold = told([pair for pair in pairs(RETOLD) if pair.aside is aside])
    assert retold.precision >= PRECISION
    assert retold.recall >= least


@pytest.mark.parametrize("aside", [False, True])
def test_what_is_news_of_another_attribute_is_no_update(aside: bool) -> None:
    news = told([pair for pair in pairs(NEWS) if pair.aside is aside])
    assert news.precision >= PRECISION
    assert news.recall >= 0.48


def test_there_are_as_many_updates_as_pairs_that_only_look_like_one_in_either_half() -> None:
    halves = [(pair.aside, pair.update) for pair in pairs()]
    assert [halves.count(half) for half in sorted(set(halves))] == [60, 60, 60, 60]


def test_the_command_prints_both_halves_and_what_is_told_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["updates", "--wrong"]) == 0
    printed = capsys.readouterr().out
    assert "| tuned on " in printed
    assert "| set aside " in printed
    assert "missed (status): Tom is single. / Tom is engaged to Ria." in printed


@pytest.mark.parametrize(
    ("older", "newer", "before", "after"),
    [
        ("rent is 900", "rent is 950 now", "900", "950"),
        ("The office in Lyon is at Hall Street 5.", "The office in Lyon is at Mill Lane 9.", "Hall Street 5", "Mill Lane 9"),
        ("Our office is in Berlin.", "Our office moved to Hamburg.", "Berlin", "Hamburg"),
        ("The default branch is master.", "The default branch is main.", "master", "main"),
        ("Deploys happen on Friday.", "Deploys happen on Tuesday.", "Friday", "Tuesday"),
        ("Sarah's email is sarah@old.example", "Sarah's email is sarah@new.example", "sarah@old.example", "sarah@new.example"),
        ("Python 3.10 is the minimum version.", "Python 3.12 is the minimum version.", "3.10", "3.12"),
        ("Tabs are used for indentation.", "Spaces are used for indentation, not tabs.", "Tabs", "Spaces"),
        ("The team has five people.", "The team has seven people.", "five", "seven"),
        # Told in words of its own.
        ("The API runs on Python 3.10.", "API image bumped to Python 3.12 and deployed.", "3.10", "3.12"),
        ("We use Mocha for the unit tests.", "Unit tests run with Vitest instead of Mocha.", "Mocha", "Vitest"),
        ("Captain of the juniors is Leo.", "The juniors voted Sami in as captain.", "Leo", "Sami"),
        (
            "The alarm at the cabin is armed.",
            "Disarmed the cabin alarm, the plumber is in and out all week.",
            "armed",
            "Disarmed",
        ),
        ("Backups land in /mnt/nas2/backups.", "Backups go to the bucket; nas2 was retired.", "/mnt/nas2/backups", ""),
        ("The importer is exposed on port 9100.", "We are exposing the importer at port 9256.", "9100", "9256"),
    ],
)
def test_an_update_names_what_stood_there_and_what_stands_there_now(older: str, newer: str, before: str, after: str) -> None:
    found = changed(older, newer)
    assert found is not None
    assert (found.before, found.after) == (before, after)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I drink coffee every morning.", "I no longer drink coffee in the morning."),
        (
            "Use the old script for every release of the mobile app.",
            "Never use the old script for every release of the mobile app.",
        ),
        ("We use MySQL for the orders service.", "We use Postgres instead of MySQL for the orders service."),
    ],
)
def test_who_says_no_or_instead_changes_what_was_said(older: str, newer: str) -> None:
    assert changed(older, newer) is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Marta lives in Porto.", "Jonas lives in Porto."),
        ("The lease of the flat ends in March.", "The lease of the car ends in March."),
        ("Fix login bug", "Fix logout bug"),
        ("Section 2 explains the setup.", "Section 3 explains the setup."),
        ("Went to the gym, 40 minutes.", "Went to the gym, 55 minutes."),
        ("Emma plays tennis with Julia.", "Emma plays tennis with Sofia."),
        ("Meeting with Anna about the budget.", "Meeting with Anna about the roadmap."),
        ("Maria's salary is 4000.", "Jonas's salary is 5000."),
        ("Lena has two cats.", "Lena has two dogs."),
        ("On the dev server, the log level is DEBUG.", "On the demo server, the log level is WARN."),
        ("The invoices table has 38 columns.", "The invoice_lines table has 12 columns."),
        ("The water meter read 4512 on 1 September.", "The water meter read 4529 on 1 October."),
        ("The notifier can send mail.", "The notifier can send SMS."),
        ("I have an account at Linden Bank.", "I have an account at Postbridge."),
        ("One of her friends is called Ria.", "One of her friends is called Mai."),
        ("Marta is allergic to penicillin.", "Marta is allergic to peanuts."),
        ("The door of room 12 sticks.", "The door of room 14 sticks."),
        ("Doctor's appointment at 9 on 3 March", "Doctor's appointment at 11 on 9 June"),
        ("Temperature in the lab 21.3 at noon", "Temperature in the lab 22.1 at noon"),
        ("The invoice for May is 300 EUR.", "The invoice for June is 320 EUR."),
        ("The same.", "The same."),
        ("", "rent is 900"),
        ("rent is 900", "..."),
        # Another thing that changed, in other words.
        ("Memory limit for the thumbnailer is 512 MB.", "Memory limit for the transcoder was raised to 4 GB."),
        ("Grandma moved to a flat in Leeds.", "Cousin Erin moved to a flat in York."),
        ("On my laptop the node version is 20.11.", "The CI runners use node 22 now."),
        ("The alarm at the cabin is armed.", "Disarmed the alarm at the office."),
        ("Benchmark run of 12 April: p95 of 340 ms.", "Benchmark run of 19 April gave a p95 of 295 ms."),
        ("The Millers have a cat called Biscuit.", "The Millers have a tortoise named Gus."),
        ("The importer is exposed on port 9100.", "The exporter is exposed on port 9256 since Monday."),
    ],
)
def test_what_happens_again_or_is_said_of_another_thing_changes_nothing(older: str, newer: str) -> None:
    assert changed(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ada is vegetarian.", "Ada moved to the late shift."),
        ("The office is closed on Fridays.", "The office moved to Hall Street."),
        ("The meeting is on Friday.", "The meeting moved to the big room."),
        ("Ben is the tech lead.", "Ben switched to a standing desk."),
        ("Clara works at the bakery.", "Clara switched to oat milk."),
        ("Clara lives in Porto.", "Clara changed to the 7 o'clock train."),
        ("The API runs on port 8080.", "The API moved to the new cluster."),
        ("The API is written in Go.", "The API moved to Frankfurt."),
        ("Our wiki is in Confluence.", "Our wiki is now read by the sales team too."),
        ("The build takes 12 minutes.", "The build now has 40 steps."),
        ("The build takes 12 minutes.", "The build runs on 4 machines now."),
        ("The car is a blue Golf.", "The car is at the garage now."),
        ("Mia plays the violin.", "Mia now plays chess on Sundays."),
        ("Mia has a dog.", "Mia now has a car."),
        ("The server is called atlas.", "The server has 64 GB now."),
        ("The server has 32 GB.", "The server has 4 disks now."),
        ("Tom drinks tea in the morning.", "Tom now drinks coffee after lunch."),
        ("We deploy on Tuesdays.", "We deploy from the laptop of Jonas now."),
        ("The report is due on 3 May.", "The report is now 40 pages long."),
        ("Nina is allergic to nuts.", "Nina is now in Berlin."),
        ("Our cat is called Miso.", "Our cat is now three years old."),
        ("The landlord is Mr Braun.", "The landlord is now on holiday."),
        ("The kitchen is painted yellow.", "The kitchen is now tidy."),
        ("The shop opens at nine.", "The shop now closes at six."),
        ("The shop opens at nine.", "The shop is now bigger."),
        ("Jonas leads the platform team.", "Jonas now leads the hiring for the data team."),
        ("I use vim for notes.", "I use a new keyboard now."),
        ("I use vim for notes.", "I now use a timer for meetings."),
        ("The backup runs at 2 am.", "The backup now runs on the NAS."),
        ("The cache is Redis.", "The cache is now warm after 5 minutes."),
        ("Paul's birthday is 4 June.", "Paul's flight is now on 8 June."),
        ("The train to Kiel leaves at 8:10.", "The train to Bonn now leaves at 9:10."),
        ("Invoices are sent by Lena.", "Invoices are now sent in PDF."),
        ("The database has 14 tables.", "The database has 3 replicas now."),
        ("Ida is 34.", "Ida now runs 10 km."),
        ("The gym is on Main Street.", "The gym is now open until ten."),
        ("My phone is a Pixel.", "My phone is now on silent."),
        ("We use tabs in Go.", "We use spaces in Python now."),
        ("The staging password rotates weekly.", "The staging deploy now rotates logs daily."),
        ("Lunch is at noon.", "Lunch is now paid by the firm."),
        ("Rita teaches maths.", "Rita now teaches in Lyon."),
        ("The rent is 900.", "The rent is now paid by standing order."),
        ("James and Audrey are married.", "Audrey moved to the night shift."),
    ],
)
def test_news_of_another_attribute_changes_nothing(older: str, newer: str) -> None:
    assert changed(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Cones of the kiln are counted by Ines.", "The kiln was moved to the cellar."),
        ("The kiln takes nine hours to cool.", "The kiln was moved to the cellar."),
        ("The kiln is fired on Mondays.", "The kiln was moved to the cellar."),
        ("The kiln's door sticks in winter.", "The kiln was moved to the cellar."),
        ("The office opens at nine.", "The office moved to Leipzig."),
        ("Keys of the office are with Tom.", "The office moved to Leipzig."),
        ("Lunch at the office is free.", "The office moved to Leipzig."),
        ("The standup is held in the kitchen.", "The standup moved to ten."),
    ],
)
def test_what_moved_changes_nothing_else_that_is_known_of_it(older: str, newer: str) -> None:
    assert changed(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer", "values"),
    [
        ("The kiln stands in the garden.", "The kiln was moved to the cellar.", ("garden", "cellar")),
        ("The office is in Berlin.", "The office moved to Leipzig.", ("Berlin", "Leipzig")),
        ("The office is in a former bakery.", "The office moved to Leipzig.", ("former bakery", "Leipzig")),
        ("Our office is on Harbour Street.", "The office moved to Leipzig.", ("Harbour Street", "Leipzig")),
        ("The standup is at nine.", "The standup moved to ten.", ("nine", "ten")),
        ("Payday is Tuesday.", "Payday was moved to Thursday.", ("Tuesday", "Thursday")),
    ],
)
def test_what_moved_changes_where_it_was(older: str, newer: str, values: tuple[str, str]) -> None:
    told = changed(older, newer)
    assert told is not None and (told.before, told.after) == values

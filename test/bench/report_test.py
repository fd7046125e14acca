"""Unit tests of bench/report; run by test_report.sh."""
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from report import clampi, figures, match, narrow, osu, plot, text, vgasnet, wording
from report.__main__ import BENCHES, main
from report.figures import Claim, at_least, at_most, below, highest, inverse, least, lowest, rows, total
from report.rounds import Rounds, first, last, mean, mean_rate
from report.stats import interval, median
from report.table import read, read_folder

MPIS, HOSTS = ["mpis=openmpi mpich"], ["hosts=real"]
SETTINGS = {  # a report cannot be written without them
    "clampi": MPIS, "match": MPIS, "armci": MPIS, "modes": [*MPIS, "load=1"], "lcc": HOSTS, "barnes-hut": HOSTS,
    "vgasnet": ["pool=33554432", "paper_rate=27m", "share=15"], "sim": ["table=lcc"], "scores": ["mpi=mpich"],
}


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, lines):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
        return path


class TestTable(Files):
    def test_columns_are_found_by_name_in_any_order(self):
        for header, line in (("mpi,bytes,ns", "mpich,8,2.5"), ("ns,mpi,bytes", "2.5,mpich,8")):
            table = read(self.write("a.csv", f"{header}\n{line}\n"))
            self.assertEqual(table.index("mpi", "bytes").value("ns", "mpich", 8), 2.5)

    def test_a_line_that_was_cut_off_is_left_out(self):
        table = read(self.write("a.csv", "mpi,bytes,ns\nmpich,8,2\nmpich,65\n"))
        self.assertEqual(table.rows, [{"mpi": "mpich", "bytes": "8", "ns": "2"}])

    def test_lines_of_a_launcher_are_left_out(self):
        noise = "mpich,1,\nmpich,1,=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\nmpich,1,=   EXIT CODE: 15\n"
        table = read(self.write("a.csv", "mpi,round,bytes,ns\n" + noise + "mpich,1,8,2\n"))
        self.assertEqual(table.distinct("bytes"), ["8"])

    def test_without_a_file_there_are_no_rows(self):
        self.assertEqual(read(self.path / "none.csv").rows, [])

    def test_tables_of_a_folder(self):
        self.write("game/a.csv", "x\n1\n")
        self.assertEqual(list(read_folder(self.path)), ["game/a"])

    def test_values_are_in_order_of_appearance(self):
        table = read(self.write("a.csv", "x,y\n2,a\n1,a\n2,b\n"))
        self.assertEqual(table.distinct("x"), ["2", "1"])
        self.assertEqual(table.distinct("x", y="b"), ["2"])


class TestStats(unittest.TestCase):
    def test_median(self):
        self.assertEqual([median([3, 1, 2]), median([4, 1, 2, 3]), median([])], [2, 2.5, None])

    def test_few_values_have_their_range_as_interval(self):
        self.assertEqual(interval([5, 1, 3]), (3, 1, 5))

    def test_interval_by_order_statistics(self):
        self.assertEqual(interval(range(100)), (49.5, 39, 60))


class TestRounds(unittest.TestCase):
    def test_ratios_are_taken_round_by_round(self):
        rounds = Rounds()
        for round_ in (1, 2, 3):
            rounds.add("slow", round_, 3 * round_)
            rounds.add("fast", round_, round_)
        rounds.add("slow", 4, 1)
        rounds.add("slow", 0, 1000)
        self.assertEqual(rounds.ratios("slow", "fast"), [3, 3, 3])
        self.assertEqual(rounds.of("slow"), 4.5)
        self.assertIsNone(rounds.ratio("slow", "absent"))

    def test_several_values_of_a_round(self):
        found = []
        for combine in (first, last, mean, mean_rate):
            rounds = Rounds(combine)
            rounds.add("key", 1, 1)
            rounds.add("key", 1, 3)
            found.append(rounds.of("key"))
        self.assertEqual(found, [1, 3, 2, 1.5])


class TestClaims(Files):
    def evaluate(self, claim, **tables):
        for name, lines in tables.items():
            self.write(f"game/{name}.csv", lines)
        figures.evaluate(claim, read_folder(self.path))
        return claim.results

    def test_the_worst_is_picked(self):
        table = "bytes,who,ns\n8,a,10\n8,b,5\n64,a,30\n64,b,5\n"
        for pick, value, where in ((highest("bytes"), 6, "64"), (lowest("bytes"), 2, "8")):
            claim = Claim("", rows("game/t", "ns", who="a"), rows("game/t", "ns", who="b"), pick=pick, unit="x", goal=at_most(3))
            result, = self.evaluate(claim, t=table)
            self.assertEqual((result.middle, result.where), (value, (where,)))
            self.assertEqual(claim.state(), "lost" if value > 3 else "reached")

    def test_chance_does_not_pick_the_worst(self):
        """Three cases of equal time, each slow in one round: the worst by the other rounds is as fast as all."""
        lines = [f"{round_},{case},{20 if round_ == case else 10}" for round_ in (1, 2, 3) for case in (1, 2, 3)]
        claim = Claim("", rows("game/t", "ns"), pair=("round",), pick=highest("case"))
        result, = self.evaluate(claim, t="round,case,ns\n" + "\n".join(lines) + "\n")
        self.assertEqual((result.middle, result.low, result.high, result.pairs), (10, 10, 10, 3))

    def test_a_case_that_is_worse_is_picked(self):
        lines = [f"{round_},{case},{10 * case + round_}" for round_ in (1, 2, 3) for case in (1, 2, 3)]
        for pick, value, where in ((highest("case"), 32, "3"), (lowest("case"), 12, "1")):
            claim = Claim("", rows("game/t", "ns"), pair=("round",), pick=pick)
            result, = self.evaluate(claim, t="round,case,ns\n" + "\n".join(lines) + "\n")
            self.assertEqual((result.middle, result.where, result.pairs), (value, (where,), 3))

    def test_two_rounds_cannot_judge_each_other(self):
        claim = Claim("", rows("game/t", "ns"), pair=("round",), pick=highest("case"))
        result, = self.evaluate(claim, t="round,case,ns\n1,a,10\n2,a,10\n1,b,20\n2,b,8\n")
        self.assertEqual((result.middle, result.where), (14, ("b",)))

    def test_compared_with_the_best_alternative(self):
        lines = [f"{round_},{who},{case},{ns + round_}" for round_ in (1, 2, 3) for who, case, ns in
                 (("ours", 1, 40), ("ours", 2, 60), ("theirs", 1, 30), ("theirs", 2, 20))]
        claim = Claim("", rows("game/t", "ns", who="ours"), rows("game/t", "ns", who="theirs"), pair=("round",), pick=highest("case"),
                      best=lowest("case"), unit="x")
        result, = self.evaluate(claim, t="round,who,case,ns\n" + "\n".join(lines) + "\n")
        self.assertEqual((result.middle, result.where, result.pairs), (62 / 22, ("2",), 3))

    def test_each_value_must_hold(self):
        claim = Claim("", rows("game/t", "ns"), each=("mpi",), goal=below(10))
        self.assertEqual([one.label for one in self.evaluate(claim, t="mpi,ns\nmpich,1\nopenmpi,20\n")], [("mpich",), ("openmpi",)])
        self.assertEqual(claim.state(), "lost")

    def test_filters(self):
        table = "a,b,v\nx,1,1\ny,2,2\nz,3,4\n"
        for filters, value in (({"a": ("x", "z")}, 5), ({"b": at_least(2)}, 6), ({"b": 2}, 2), ({}, 7)):
            result, = self.evaluate(Claim("", total("game/t", "v", **filters)), t=table)
            self.assertEqual(result.middle, value)

    def test_a_mean_of_rates_is_taken_over_times(self):
        claim = Claim("", inverse("game/t", "v"), pair=("round",))
        result, = self.evaluate(claim, t="round,v\n1,2\n1,4\n")
        self.assertEqual(result.middle, 0.375)

    def test_one_side_may_be_reduced(self):
        claim = Claim("", rows("game/t", "v", who="a"), least("game/t", "v", who="b"), each=("mpi",))
        found = self.evaluate(claim, t="mpi,who,v\nm,a,8\nm,b,4\nm,b,2\no,a,9\no,b,3\n")
        self.assertEqual([(one.label, one.middle) for one in found], [(("m",), 4), (("o",), 3)])

    def test_what_is_not_there_is_not_run(self):
        for operand in (rows("game/absent", "v"), rows("game/t", "w"), rows("game/t", "v", w=1)):
            claim = Claim("", operand, goal=at_least(1))
            self.assertEqual(self.evaluate(claim, t="v\n1\n"), [])
            self.assertEqual(claim.state(), "not run")

    def test_words(self):
        claim = Claim("", rows("game/t", "v"), each=("setting",), unit="x")
        result, = self.evaluate(claim, t="setting,v\nopenmpi.hosts.4,2.5\n")
        self.assertEqual(wording.label(claim, result), "Open MPI, 4 ranks on 2 hosts")
        self.assertEqual(wording.ours(claim, result), "2.50x, n = 1")


class TestNarrow(Files):
    def table(self, rounds, spread):
        lines = [f"{number},slow,{300 + spread * (number % 3)}\n{number},fast,100\n" for number in range(1, rounds + 1)]
        return self.write("runs.csv", "round,who,seconds\n" + "".join(lines))

    def widest(self, *arguments):
        return narrow.widest(self.table(*arguments), value="seconds", base="who=fast")

    def test_fewer_than_six_rounds_are_too_few(self):
        self.assertEqual(self.widest(5, 0), narrow.UNKNOWN)

    def test_width(self):
        self.assertEqual(self.widest(6, 0), 0)
        self.assertGreater(self.widest(6, 100), narrow.ENOUGH)

    def test_exit_status(self):
        self.assertEqual(main(["narrow", str(self.table(6, 0)), "value=seconds", "base=who=fast"]), 0)
        with self.assertRaises(SystemExit):
            main(["narrow", str(self.table(6, 100)), "value=seconds", "base=who=fast"])


class TestReports(Files):
    def test_without_any_row_every_report_is_written(self):
        for bench in BENCHES:
            with self.subTest(bench), mock.patch("builtins.print") as printed:
                self.assertEqual(main([bench, str(self.path / "none"), *SETTINGS.get(bench, [])]), 0)
                self.assertTrue(printed.call_args_list)

    def test_an_unknown_command_and_an_unknown_setting_are_refused(self):
        with mock.patch("builtins.print"):
            self.assertEqual(main(["nonsense", str(self.path)]), 2)
            self.assertEqual(main(["dft", str(self.path), "colour=red"]), 2)

    def test_a_missing_value_has_no_ratio(self):
        lines = list(clampi.report(self.path, "mpich"))
        for line in (cells for cells in lines if "| missing |" in cells):
            ratio, setting, remark = (line.split("|")[column].strip() for column in (5, 6, 8))
            self.assertIn(ratio, ("", "not given", "limit 1.15"))
            self.assertNotRegex(setting + remark, r"\b0 %|0\.0|-100")

    def test_structures_that_were_not_measured_are_left_out(self):
        places = mock.Mock()
        places.ns = lambda where, kind, name, size, state: {"list": 100.0, "lla-8": 50.0}.get(name)
        line, = match.rate_rows(places, "mpich", 1, "warm", "Fig. 4b")
        self.assertIn("| list to lla-8 2.00x |", line)

    def test_a_fixed_cache_that_is_too_small_runs_shortly(self):
        header = "mpi,vary,start,strategy,gets,seconds,median_seconds,hit_ratio,conflicting,capacity_failing,adjustments,slots,bytes\n"
        table = read(self.write("fig9.csv", header + "".join(
            f"mpich,index,100,{strategy},{gets},0.5,0.6,0.25,1,2,3,400,5120\n"
            for strategy, gets in (("off", 20000), ("on", 20000), ("on", 100000)))))
        line = list(clampi.time_table(clampi.Times(table), ["mpich"]))[-1]
        self.assertEqual(line, "| index 100 | 500.0 | 500.0 (400, 5; 3) | - | 500.0 (400, 5; 3) | -, 25.0 % |")

    def test_rate_of_the_nvm(self):
        self.write("walk.csv", "coop,mbps\nplain,300\nplain,150\n1,9\nplain,450\n")
        self.assertEqual(list(vgasnet.nvm_rate(self.path, "15")), ["20m"])

    def test_numbers_in_words(self):
        self.assertEqual([text.times(None), text.times(9.994), text.times(12.6)], ["missing", "9.99x", "13x"])
        self.assertEqual([text.size(8), text.size(1536), text.size(1048576)], ["8 B", "1.5 KB", "1 MB"])
        self.assertEqual([text.nanoseconds(999), text.nanoseconds(1500), text.nanoseconds(2e6)], ["999 ns", "1.5 us", "2 ms"])


class TestOsu(Files):
    COLUMNS = "mpi,place,ranks,config,round,case,bytes,samples,ns,low,high,least\n"

    def lines(self, **ratios):
        """The report of a latency of 100 ns without Hearth, by its ratios of the rounds."""
        text = self.COLUMNS
        for case, values in ratios.items():
            for round_, ratio in enumerate(values, 1):
                for config, ns in ("bare", 100), ("hearth", 100 * ratio):
                    text += f"mpich,node,2,{config},{round_},{case},8,3,{ns},{ns},{ns},{ns}\n"
        self.write("cells.csv", text)
        return list(osu.report(self.path))

    def test_a_cell_is_lost_if_its_whole_interval_is_above_the_limit(self):
        lines = self.lines(latency=[1.3] * 6, bandwidth=[1.3, 1.3, 1.3, 1.3, 1.01, 1.3])
        self.assertIn("| MPICH | one node | latency, 8 B | 100 ns | 1.30 | 1.30 to 1.30 | 1.30 |", lines)
        self.assertFalse([line for line in lines if "bandwidth, 8 B" in line])
        self.assertIn("| MPICH | one node | messages | 2 | 1 | 1.30 | 0.85 | 1.30 | 1.30 |", lines)

    def test_a_cell_of_one_configuration_is_missing(self):
        self.write("cells.csv", self.COLUMNS + "mpich,nodes,2,bare,1,latency,8,3,1,1,1,1\n")
        self.assertIn("- not measured: MPICH, between nodes, latency, 8 B, with Hearth", list(osu.report(self.path)))

    def test_kinds(self):
        kinds = [osu.kind_of(case) for case in ("both_ways", "get_bw.fence.create", "barrier", "rput.create", "threads")]
        self.assertEqual(kinds, ["messages", "windows", "collectives", "others", "others"])


class TestPlots(Files):
    def test_points_leave_empty_cells_out(self):
        table = read(self.write("a.csv", "x,y\n1,2\n2,\n3,4\n"))
        self.assertEqual(plot.points(table.rows, "x", lambda cells: float(cells["y"]) * 10 if cells["y"] else None), [(1, 20), (3, 40)])
        self.assertEqual(plot.averaged([(2, 1), (1, 5), (2, 3)]), [(1, 5), (2, 2)])

    def drawn(self):
        return plot.draw(
            self.path,
            [
                plot.plot("empty.svg", "", "x", "y", [plot.Series("a", [])]),
                plot.plot("full.svg", "kept", "x", "y", [plot.Series("a", [(1, 2), (3, 4)])], log="xy"),
                plot.plot("bars.svg", "", "x", "y", [plot.Series("a", [(1, 2, 1, 3)]), plot.Series("", [(1, 2)], "impulses")]),
            ],
        )

    def test_without_matplotlib_there_is_a_line(self):
        with mock.patch.object(plot, "pyplot_of", lambda: None):
            self.assertIn("no plots: matplotlib", self.drawn()[0])

    @unittest.skipIf(plot.pyplot_of() is None, "matplotlib is not here")
    def test_a_plot_without_data_leaves_the_others(self):
        self.assertEqual(self.drawn(), ["a plot has nothing to show: empty.svg"])
        self.assertEqual(sorted(path.name for path in self.path.glob("*.svg")), ["bars.svg", "full.svg"])


if __name__ == "__main__":
    unittest.main()

"""Ranks as threads of one process: the interpreter goes on while a rank waits, and no thread can pull the rug from another."""
import array
import threading
import unittest

import rig

import hcomm


class Threads(unittest.TestCase):
    def setUp(self):
        self.comms = hcomm.Communicator.all_in_process(3)

    def test_ranks_on_threads(self):
        def work(comm):
            total = array.array("q", [0])
            for turn in range(200):
                comm.all_reduce(array.array("q", [comm.rank * turn]), total)
                self.assertEqual(total[0], 3 * turn)
            return comm.rank, comm.size

        self.assertEqual(rig.on_threads(self.comms, work), [(0, 3), (1, 3), (2, 3)])

    def test_other_threads_run_while_a_rank_waits(self):
        counter = [0]
        ended = threading.Event()

        def wait_on_rank_0():
            self.comms[0].barrier()
            ended.set()

        waiting = threading.Thread(target=wait_on_rank_0)
        waiting.start()
        while counter[0] < 100_000:  # would not get here if the waiting thread held the interpreter
            counter[0] += 1
        self.assertFalse(ended.is_set())
        rig.on_threads(self.comms[1:], lambda comm: comm.barrier())
        waiting.join()
        self.assertTrue(ended.is_set())

    def test_one_thread_drives_all_in_a_group(self):
        data = [array.array("i", [rank, 1]) for rank in range(3)]
        with hcomm.group():
            for comm in self.comms:
                comm.all_reduce(data[comm.rank], data[comm.rank])
            self.assertEqual([each.tolist() for each in data], [[0, 1], [1, 1], [2, 1]])  # not yet
        self.assertEqual([each.tolist() for each in data], [[3, 3]] * 3)

    def test_a_group_left_by_an_exception_issues_nothing(self):
        data = [array.array("i", [rank]) for rank in range(3)]
        with self.assertRaises(KeyError):
            with hcomm.group():
                for comm in self.comms:
                    comm.all_reduce(data[comm.rank], data[comm.rank])
                raise KeyError
        self.assertEqual([each[0] for each in data], [0, 1, 2])
        for comm in self.comms:
            comm.close()  # nothing holds them

    def test_a_refused_call_refuses_its_group(self):
        data = [array.array("f", [1]) for _ in range(3)]
        with self.assertRaises(hcomm.InvalidArgument) as caught:
            with hcomm.group():
                for comm in self.comms:
                    try:
                        comm.all_reduce(data[comm.rank], data[comm.rank], op="bor" if comm.rank == 1 else "sum")
                    except hcomm.InvalidArgument:
                        pass
        self.assertIn("op bor is not defined", str(caught.exception))
        self.assertEqual([each[0] for each in data], [1, 1, 1])

    def test_an_inner_group_left_by_an_exception_refuses_the_outer(self):
        with self.assertRaises(hcomm.Error):
            with hcomm.group():
                for comm in self.comms:
                    comm.barrier()
                try:
                    with hcomm.group():
                        raise KeyError
                except KeyError:
                    pass

    def test_abort_and_close_while_a_rank_waits(self):
        inside = threading.Event()
        seen = []

        def wait():
            inside.set()
            try:
                self.comms[0].all_reduce(array.array("i", [1]), array.array("i", [0]))
            except hcomm.Aborted as error:
                seen.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        inside.wait()
        while self.comms[0]._users == 0:  # until it is in the call
            pass
        with self.assertRaises(hcomm.InvalidUsage) as caught:
            self.comms[0].close()
        self.assertIn("in use by another thread", str(caught.exception))
        self.assertIsNone(self.comms[0].async_error())  # may be asked at any time
        self.assertEqual(self.comms[0].last_error(), "")
        self.comms[1].abort()
        waiting.join()
        self.assertEqual([error.code for error in seen], [hcomm.Result.aborted])
        self.comms[0].close()

    def test_a_mismatch_between_threads(self):
        def work(comm):
            with self.assertRaises(hcomm.Mismatch) as caught:
                comm.all_reduce(bytes(3 + comm.rank // 2), bytearray(3 + comm.rank // 2))
            return str(caught.exception)

        for text in rig.on_threads(self.comms, work):
            self.assertIn("allreduce(count 3, uint8, sum)", text)
            self.assertIn("allreduce(count 4, uint8, sum)", text)


if __name__ == "__main__":
    rig.main()

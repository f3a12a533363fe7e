"""The Python package in small. In the build tree:

    PYTHONPATH=build/bindings/python build/tools/hcomm run -n 4 -- /usr/bin/python3 examples/hello.py"""
import hcomm
import numpy

with hcomm.Communicator.from_env() as comm:  # raises hcomm.Error, which says what, where and what to do
    data = hcomm.zeros(1024)  # a numpy array; any memory will do, this kind is fastest
    data[:] = comm.rank
    comm.all_reduce(data, out=data)
    shares = comm.all_gather(numpy.array([comm.rank, comm.rank ** 2]))  # makes an array of shape (size, 2)
    print(f"rank {comm.rank} of {comm.size}: {data[0]:g}, {shares[:, 1].tolist()}")

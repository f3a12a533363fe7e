/* hcomm/hcomm.h: collective communication between ranks, the C API.
 *
 * Conventions
 *
 *  1. A communicator is used by one thread at a time, different ones by different threads at once. Two threads in one are
 *     answered with hcommInvalidUsage. hcommCommAbort, hcommCommGetAsyncError and hcommGetLastError may be called at any
 *     time from any thread; none is async-signal-safe.
 *  2. With stream NULL (the only one of this version) a call has completed when it returns, and the caller's thread did
 *     the work. One thread that drives several ranks (hcommCommInitAll) puts their calls in a group; a call outside a
 *     group that could never end for that reason is refused with hcommInvalidUsage.
 *  3. Between hcommGroupStart and hcommGroupEnd collective calls are checked and recorded; the outermost end issues all
 *     of them or, if one was refused, none, and returns the first error.
 *  4. All ranks issue a communicator's operations in the same order, with the same count, type, operation and root.
 *  5. hcommInvalidArgument and hcommInvalidUsage change nothing: the communicator stays usable. Any other error is final:
 *     every later call returns it until hcommCommAbort or hcommCommDestroy. After a failed call has returned, no rank
 *     writes into the caller's memory; outputs are undefined, inputs unchanged.
 *  6. hcommCommDestroy is local and bounded, in any order. A process that ends without it counts as dead for peers that
 *     still need it, and not for those that do not.
 *  7. The child of a fork owns nothing: every handle answers hcommInvalidUsage there.
 *  8. Counts are numbers of elements. Zero is legal, and then buffers may be NULL and nobody waits for anybody.
 *  9. send == recv is in place (where one buffer is larger: the rank's own part of it); ranks may differ in it. Any other
 *     overlap is hcommInvalidArgument.
 * 10. Numbers mean the same everywhere: all ranks end with the same bits. Integers wrap in sums and products; their avg is the
 *     exact mean rounded toward zero. A float avg is the sum divided once. Floats of 16 and 8 bits are combined in fp32 and
 *     rounded once where the algorithm sees all contributions; 16-bit sums once a step where it does not. A NaN wins in min
 *     and max; -0 is less than +0. Logical results are 0 or 1. docs/types.md has the table of types and operations.
 * 11. The library never changes the affinity, signal mask, environment or floating-point control of the caller's threads.
 *     EINTR is never visible. Threads of its own block all signals.
 *
 * A handle that a function makes is written only on success and set to NULL on failure. */
#ifndef HCOMM_HCOMM_H
#define HCOMM_HCOMM_H

#include <hcomm/types.h>

#if defined(__GNUC__)
#define HCOMM_EXPORT __attribute__((visibility("default")))
#else
#define HCOMM_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Errors and version ------------------------------------------------------------------------------------------ */

/* 10000 * major + 100 * minor + patch. */
HCOMM_EXPORT hcommResult_t hcommGetVersion(int* version);

/* A short text for a code; never NULL, static. */
HCOMM_EXPORT const char* hcommGetErrorString(hcommResult_t result);

/* What went wrong last: what, where, who, and what to do. With NULL: in this thread's last failed call; with a
 * communicator: what made it fail, "" while it is well. Valid until this thread's next call of hcomm. Never NULL. */
HCOMM_EXPORT const char* hcommGetLastError(hcommComm_t comm);

/* --- Making and ending communicators ------------------------------------------------------------------------------- */

/* Makes an id that `size` processes can join, of this host and user or, over TCP, of others that are told it: it holds a secret,
 * so keep it from strangers. The calling process serves the meeting and must live until all have joined. One id makes one
 * communicator. */
HCOMM_EXPORT hcommResult_t hcommGetUniqueId(hcommUniqueId* id);

/* Joins as `rank` of `size`; collective; returns when all have joined, or fails after HCOMM_CONNECT_TIMEOUT and names who is
 * missing. */
HCOMM_EXPORT hcommResult_t hcommCommInitRank(hcommComm_t* comm, int size, hcommUniqueId id, int rank);

/* Makes all `size` communicators of one process, comms[rank]; each is then used by a thread of its own, or all by one
 * thread in groups. */
HCOMM_EXPORT hcommResult_t hcommCommInitAll(hcommComm_t* comms, int size);

/* Joins what the launcher started (`hcomm run`, torchrun, Open MPI, MPICH, Slurm, an HCCL rank table, or by hand; `hcomm env
 * --launcher` says which and why), by its environment; collective. Fails when no launcher is found: it never
 * falls back to one rank. May be called again: each call makes one more communicator of the same ranks. */
HCOMM_EXPORT hcommResult_t hcommCommInitEnv(hcommComm_t* comm);

/* Makes a new communicator of each color: of the ranks that pass it, in the order of their keys and, where keys are equal, of
 * their ranks in comm. A rank that passes HCOMM_SPLIT_NOCOLOR gets NULL. Collective over comm, which stays as it is; blocks until
 * all ranks of the color have joined, or fails after HCOMM_CONNECT_TIMEOUT. Not in a group, and not for one thread that drives
 * several ranks. color is 0 or more. */
HCOMM_EXPORT hcommResult_t hcommCommSplit(hcommComm_t comm, int color, int key, hcommComm_t* newcomm);

/* Makes a communicator of the same ranks in the same order; otherwise as hcommCommSplit. What is called in one does not wait for
 * what is called in the other. */
HCOMM_EXPORT hcommResult_t hcommCommDup(hcommComm_t comm, hcommComm_t* newcomm);

/* Ends a communicator and frees it. NULL is legal. Bounded: a peer that still works is not waited for. */
HCOMM_EXPORT hcommResult_t hcommCommDestroy(hcommComm_t comm);

/* Makes every present and future call on the communicator, on every rank, fail with hcommAborted; idempotent; from any thread.
 * The handle is still to be destroyed. */
HCOMM_EXPORT hcommResult_t hcommCommAbort(hcommComm_t comm);

/* How many ranks there are. */
HCOMM_EXPORT hcommResult_t hcommCommCount(hcommComm_t comm, int* count);

/* Which of them this one is: 0 to the count - 1. */
HCOMM_EXPORT hcommResult_t hcommCommUserRank(hcommComm_t comm, int* rank);

/* What the next call would answer: hcommSuccess, or the final error. */
HCOMM_EXPORT hcommResult_t hcommCommGetAsyncError(hcommComm_t comm, hcommResult_t* result);

/* --- Collectives ---------------------------------------------------------------------------------------------------- */

/* recv[i] = op over all ranks' send[i], on every rank; count elements. */
HCOMM_EXPORT hcommResult_t hcommAllReduce(const void* send, void* recv, size_t count, hcommDataType_t dtype,
                                          hcommRedOp_t op, hcommComm_t comm, hcommStream_t stream);

/* recv = the root's send, on every rank; count elements. send is read on the root alone and may be NULL elsewhere. */
HCOMM_EXPORT hcommResult_t hcommBroadcast(const void* send, void* recv, size_t count, hcommDataType_t dtype, int root,
                                          hcommComm_t comm, hcommStream_t stream);

/* recv[i] = op over all ranks' send[i], on the root; count elements. recv is written on the root alone and may be NULL
 * elsewhere. */
HCOMM_EXPORT hcommResult_t hcommReduce(const void* send, void* recv, size_t count, hcommDataType_t dtype, hcommRedOp_t op,
                                       int root, hcommComm_t comm, hcommStream_t stream);

/* recv[i] = op over all ranks' send[rank * recv_count + i]; send has size * recv_count elements. */
HCOMM_EXPORT hcommResult_t hcommReduceScatter(const void* send, void* recv, size_t recv_count, hcommDataType_t dtype,
                                              hcommRedOp_t op, hcommComm_t comm, hcommStream_t stream);

/* recv[r * send_count + i] = rank r's send[i]; recv has size * send_count elements. */
HCOMM_EXPORT hcommResult_t hcommAllGather(const void* send, void* recv, size_t send_count, hcommDataType_t dtype,
                                          hcommComm_t comm, hcommStream_t stream);

/* recv[r * send_count + i] = rank r's send[i], on the root; there recv has size * send_count elements. Elsewhere recv is not
 * written and may be NULL. In place on the root: send == recv + root * send_count elements. */
HCOMM_EXPORT hcommResult_t hcommGather(const void* send, void* recv, size_t send_count, hcommDataType_t dtype, int root,
                                       hcommComm_t comm, hcommStream_t stream);

/* recv[i] = the root's send[rank * recv_count + i], on every rank. On the root send has size * recv_count elements; elsewhere it
 * is not read and may be NULL. In place on the root: recv == send + root * recv_count elements. */
HCOMM_EXPORT hcommResult_t hcommScatter(const void* send, void* recv, size_t recv_count, hcommDataType_t dtype, int root,
                                        hcommComm_t comm, hcommStream_t stream);

/* recv[r * count + i] = rank r's send[rank * count + i]: count elements for each rank, and from each. Both buffers have
 * size * count elements. In place: send == recv. */
HCOMM_EXPORT hcommResult_t hcommAllToAll(const void* send, void* recv, size_t count, hcommDataType_t dtype, hcommComm_t comm,
                                         hcommStream_t stream);

/* The V variants: the ranks' parts have lengths of their own, counts[rank], and places of their own, offsets[rank], both in
 * elements. offsets may be NULL: one part after the other in rank order. The lists have one entry for each rank and are copied
 * during the call, also in a group. Any length may be zero. Parts that are received must not overlap each other. */

/* recv[recv_offsets[r] + i] = rank r's send[i], for i < recv_counts[r], on every rank. All ranks pass the same recv_counts, and
 * send_count == recv_counts[rank]; offsets may differ. In place: send == recv + recv_offsets[rank] elements. */
HCOMM_EXPORT hcommResult_t hcommAllGatherV(const void* send, size_t send_count, void* recv, const size_t* recv_counts,
                                           const size_t* recv_offsets, hcommDataType_t dtype, hcommComm_t comm,
                                           hcommStream_t stream);

/* recv[i] = op over all ranks' send[start + i], for i < recv_counts[rank], where start is the sum of the recv_counts before
 * rank's. All ranks pass the same recv_counts. In place: recv == send + start elements. */
HCOMM_EXPORT hcommResult_t hcommReduceScatterV(const void* send, void* recv, const size_t* recv_counts, hcommDataType_t dtype,
                                               hcommRedOp_t op, hcommComm_t comm, hcommStream_t stream);

/* On the root recv[recv_offsets[r] + i] = rank r's send[i], for i < recv_counts[r], which is rank r's send_count: a rank that
 * sends another number of elements is hcommMismatch. The lists and recv are used on the root alone and may be NULL elsewhere.
 * In place on the root: send == recv + recv_offsets[root] elements. */
HCOMM_EXPORT hcommResult_t hcommGatherV(const void* send, size_t send_count, void* recv, const size_t* recv_counts,
                                        const size_t* recv_offsets, hcommDataType_t dtype, int root, hcommComm_t comm,
                                        hcommStream_t stream);

/* recv[i] = the root's send[send_offsets[rank] + i], for i < recv_count, which is the root's send_counts[rank]; otherwise
 * hcommMismatch. The lists and send are used on the root alone and may be NULL elsewhere. In place on the root:
 * recv == send + send_offsets[root] elements. */
HCOMM_EXPORT hcommResult_t hcommScatterV(const void* send, const size_t* send_counts, const size_t* send_offsets, void* recv,
                                         size_t recv_count, hcommDataType_t dtype, int root, hcommComm_t comm,
                                         hcommStream_t stream);

/* recv[recv_offsets[r] + i] = rank r's send[its send_offsets[rank] + i], for i < recv_counts[r], which is rank r's
 * send_counts[rank]; otherwise hcommMismatch. In place: send == recv, with equal counts and offsets. Takes memory of its own for
 * two received parts. */
HCOMM_EXPORT hcommResult_t hcommAllToAllV(const void* send, const size_t* send_counts, const size_t* send_offsets, void* recv,
                                          const size_t* recv_counts, const size_t* recv_offsets, hcommDataType_t dtype,
                                          hcommComm_t comm, hcommStream_t stream);

/* Returns on no rank before every rank has called it. */
HCOMM_EXPORT hcommResult_t hcommBarrier(hcommComm_t comm, hcommStream_t stream);

/* From here to hcommGroupEnd this thread's calls are recorded. Groups nest; see conventions 2 and 3. */
HCOMM_EXPORT hcommResult_t hcommGroupStart(void);

/* Ends the group. The outermost one issues what was recorded and returns when it has completed, or issues nothing if a call was
 * refused, and returns the first error. */
HCOMM_EXPORT hcommResult_t hcommGroupEnd(void);

/* --- Memory --------------------------------------------------------------------------------------------------------- */

/* Memory that peers on the host can map, so that collectives need not copy it first. Needs no communicator. Any other memory
 * is legal everywhere, too. Page aligned, zeroed; a size of 0 gives NULL. */
HCOMM_EXPORT hcommResult_t hcommMemAlloc(void** memory, size_t bytes);

/* Frees what hcommMemAlloc gave. NULL is legal. */
HCOMM_EXPORT hcommResult_t hcommMemFree(void* memory);

#ifdef __cplusplus
}
#endif

#endif

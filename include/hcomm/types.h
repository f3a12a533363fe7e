/* hcomm/types.h: the vocabulary. A leaf: it includes nothing of hcomm and defines no functions.
 *
 * The numbers are part of the ABI: they never change, new ones are appended. The first ones are those of
 * NCCL's enumerations, so that a table of NCCL values can be used as it is. */
#ifndef HCOMM_TYPES_H
#define HCOMM_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* In C++ the enumerations have a fixed type, so that a number which names nothing is still a value that can be refused. */
#ifdef __cplusplus
#define HCOMM_ENUM_TYPE : int
extern "C" {
#else
#define HCOMM_ENUM_TYPE
#endif

/* What every function answers. */
typedef enum HCOMM_ENUM_TYPE {
  hcommSuccess = 0,
  hcommSystemError = 2,     /* the operating system refused something */
  hcommInternalError = 3,   /* a bug in hcomm */
  hcommInvalidArgument = 4, /* one argument is wrong; nothing was changed */
  hcommInvalidUsage = 5,    /* the call is wrong here and now; nothing was changed */
  hcommRemoteError = 6,     /* a peer died or failed; final for the communicator */
  hcommInProgress = 7,
  hcommTimeout = 8,    /* a peer did not come or did not move in time; final */
  hcommMismatch = 9,   /* the ranks' calls do not fit each other; final */
  hcommAborted = 10,   /* hcommCommAbort was called; final */
  hcommOutOfMemory = 11
} hcommResult_t;

/* Elements. docs/types.md says which operations each has. Floats of 8 bits are those of the Open Compute Project: float8e5m2
 * is the upper half of a float16; float8e4m3 ("fn") has no infinities, NaN is 0x7f and 0xff, the largest number 448.
 * What is too large becomes an infinity in all floats but float8e4m3, and a NaN there (it does not saturate), as when
 * PyTorch converts. A bool is one byte: any that is not 0 counts as true, results are 0 or 1. A complex number is its real
 * part followed by its imaginary part. */
typedef enum HCOMM_ENUM_TYPE {
  hcommInt8 = 0,
  hcommUint8 = 1,
  hcommInt32 = 2,
  hcommUint32 = 3,
  hcommInt64 = 4,
  hcommUint64 = 5,
  hcommFloat16 = 6,
  hcommFloat32 = 7,
  hcommFloat64 = 8,
  hcommBfloat16 = 9,
  hcommFloat8e4m3 = 10,
  hcommFloat8e5m2 = 11,
  hcommInt16 = 12,
  hcommUint16 = 13,
  hcommBool = 14,
  hcommComplex64 = 15,
  hcommComplex128 = 16
} hcommDataType_t;

/* Operations of a reduction; docs/types.md says which type has which. */
typedef enum HCOMM_ENUM_TYPE {
  hcommSum = 0,
  hcommProd = 1,
  hcommMax = 2,
  hcommMin = 3,
  hcommAvg = 4,   /* the sum divided by the number of ranks, once */
  hcommLand = 5,  /* logical: results are 0 or 1 */
  hcommLor = 6,
  hcommLxor = 7,
  hcommBand = 8,  /* of each bit */
  hcommBor = 9,
  hcommBxor = 10
} hcommRedOp_t;

/* Handles. A handle is made by one function, ended by one function, and owned by who made it. */
typedef struct hcommComm* hcommComm_t;
typedef struct hcommStream* hcommStream_t;

#define HCOMM_UNIQUE_ID_BYTES 128

/* Names a job that ranks join (hcommCommInitRank). Copy its bytes to every rank by any means;
 * whoever holds them can join, so treat them as a secret. */
typedef struct {
  char internal[HCOMM_UNIQUE_ID_BYTES];
} hcommUniqueId;

/* The color of a rank that will be in no new communicator (hcommCommSplit). */
#define HCOMM_SPLIT_NOCOLOR (-1)

#ifdef __cplusplus
}
#endif

#endif

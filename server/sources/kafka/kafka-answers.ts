// What a broker answers to a fetch, with the batches as they came. The client would decompress each at once and without a limit, and
// make an object of every record and header; here they are opened one after the other as they are read (batches/).
// https://kafka.apache.org/protocol#The_Messages_Fetch

import {
  type API,
  type Connection,
  type Consumer,
  type Reader,
  ResponseError,
  readKnownTaggedFields,
} from '@platformatic/kafka'
import type { FetchedPartition } from '../batches/record-batches.ts'
import { type Changeable, changeRequest } from './changed-request.ts'

/** From these versions on. */
const HAS_LOG_START = 5
const HAS_SESSION = 7
const HAS_REPLICA = 11
const IS_COMPACT = 12
const HAS_TOPIC_ID = 13

type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>
type Answered = Omit<FetchResponse, 'responses'> & {
  responses: { topicId: string; partitions: (FetchedPartition & { errorCode: number })[] }[]
}
type FetchApi = API<unknown[], FetchResponse>
type Send = Connection['send']

export function leaveBatchesClosed<C extends Changeable>(client: C): C {
  return changeRequest(client, 'Fetch', closed)
}

function closed(api: FetchApi): FetchApi {
  const own = (connection: Connection, ...args: unknown[]) => {
    const send = (...[key, version, create, _, ...rest]: Parameters<Send>) =>
      connection.send(key, version, create, parseAnswer as never, ...rest)
    api({ send } as Connection, ...args)
  }
  return Object.assign(own, { key: api.key, version: api.version }) as FetchApi
}

export function parseAnswer(_: number, apiKey: number, version: number, reader: Reader): Answered {
  const isCompact = version >= IS_COMPACT
  const errors: [string, [number, null]][] = []
  const note = (path: string, code: number) => {
    if (code !== 0) errors.push([path, [code, null]])
    return code
  }
  const answer: Answered = {
    throttleTimeMs: reader.readInt32(),
    errorCode: version >= HAS_SESSION ? note('', reader.readInt16()) : 0,
    sessionId: version >= HAS_SESSION ? reader.readInt32() : 0,
    responses: reader.readArray(
      (_, topic) => ({
        topicId: version >= HAS_TOPIC_ID ? reader.readUUID() : reader.readString(isCompact),
        partitions: reader.readArray(
          (_, partition) => {
            const own = readPartition(reader, version)
            note(`/responses/${topic}/partitions/${partition}`, own.errorCode)
            return own
          },
          isCompact,
          isCompact,
        ),
      }),
      isCompact,
      isCompact,
    ),
    nodeEndpoints: [],
  }
  if (isCompact) readKnownTaggedFields(reader, {})
  if (errors.length === 0) return answer
  throw new ResponseError(apiKey, version, Object.fromEntries(errors), answer)
}

/** Its tagged fields say who else leads it, which the metadata do, too. */
function readPartition(
  reader: Reader,
  version: number,
): FetchedPartition & { errorCode: number; preferredReadReplica: number; records: null } {
  const isCompact = version >= IS_COMPACT
  const partitionIndex = reader.readInt32()
  const errorCode = reader.readInt16()
  const highWatermark = reader.readInt64()
  // The end of the last transaction that has ended, and the beginning of the log.
  reader.readInt64()
  if (version >= HAS_LOG_START) reader.readInt64()
  const abortedTransactions = reader.readNullableArray(
    () => ({ producerId: reader.readInt64(), firstOffset: reader.readInt64() }),
    isCompact,
    isCompact,
  )
  const preferredReadReplica = version >= HAS_REPLICA ? reader.readInt32() : -1
  const batches = reader.readNullableBytes(isCompact)
  // The client would look for batches in `records`.
  const rest = { abortedTransactions, preferredReadReplica, records: null, batches }
  return { partitionIndex, errorCode, highWatermark, ...rest }
}

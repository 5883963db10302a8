// Our reading of fetch answers beside the client's own, in every version that it knows.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import * as client from '@platformatic/kafka'
import { batch } from '../../../test/support/kafka-batches.ts'
import { parseAnswer } from './kafka-answers.ts'

const FETCH = 1
const NOT_LEADER = 6
const COMPACT = 12
const TOPIC_IDS = 13
const RECORDS = batch(3n, ['a', 'b'])
const VERSIONS = Array.from({ length: 14 }, (_, index) => 4 + index)

/** An answer with two partitions: one with records and aborted transactions, one without, with an error if wanted. */
function answer(version: number, errorCode = 0): client.Writer {
  const isCompact = version >= COMPACT
  const id = randomUUID()
  const tags = (writer: client.Writer) => (isCompact ? writer.appendTaggedFields() : writer)
  const writer = client.Writer.create().appendInt32(7)
  if (version >= 7) writer.appendInt16(0).appendInt32(99)
  const partitions = [
    { index: 0, code: 0, aborted: [{ producerId: 5n, firstOffset: 3n }], records: RECORDS },
    { index: 4, code: errorCode, aborted: null, records: null },
  ]
  writer.appendArray(
    [id],
    (topic) => {
      if (version >= TOPIC_IDS) topic.appendUUID(id)
      else topic.appendString('the topic', isCompact)
      topic.appendArray(
        partitions,
        (own, { index, code, aborted, records: bytes }) => {
          own.appendInt32(index).appendInt16(code).appendInt64(10n).appendInt64(9n)
          if (version >= 5) own.appendInt64(1n)
          own.appendArray(
            aborted,
            (one, { producerId, firstOffset }) => {
              one.appendInt64(producerId).appendInt64(firstOffset)
              tags(one)
            },
            isCompact,
            false,
          )
          if (version >= 11) own.appendInt32(-1)
          own.appendBytes(bytes, isCompact)
          tags(own)
        },
        isCompact,
        false,
      )
      tags(topic)
    },
    isCompact,
    false,
  )
  return tags(writer)
}

const theirs = (version: number) =>
  (client as unknown as Record<string, { parseResponse: typeof parseAnswer }>)[`fetchV${version}`]

test('every version is read as the client reads it, with the batches as they came', () => {
  for (const version of VERSIONS) {
    const written = answer(version).buffer
    const ours = parseAnswer(1, FETCH, version, client.Reader.from(written))
    const expected = theirs(version)?.parseResponse(1, FETCH, version, client.Reader.from(written))
    assert.ok(expected, `${version}`)
    assert.equal(ours.sessionId, expected.sessionId)
    const [topic] = ours.responses
    const [expectedTopic] = expected.responses
    assert.equal(topic?.topicId, expectedTopic?.topicId)
    assert.deepEqual(
      topic?.partitions.map((one) => [
        one.partitionIndex,
        one.highWatermark,
        one.abortedTransactions,
      ]),
      expectedTopic?.partitions.map((one) => [
        one.partitionIndex,
        one.highWatermark,
        one.abortedTransactions,
      ]),
    )
    assert.ok(topic?.partitions[0]?.batches?.equals(RECORDS) ?? false, `${version}`)
    assert.equal(topic?.partitions[1]?.batches, null)
  }
})

test('what a partition cannot give is a failure of the answer, as the client has it', () => {
  for (const version of VERSIONS) {
    const written = answer(version, NOT_LEADER).buffer
    assert.throws(
      () => parseAnswer(1, FETCH, version, client.Reader.from(written)),
      (error: Error) =>
        error instanceof client.ResponseError &&
        client.findErrorBy(error, 'apiId', 'NOT_LEADER_OR_FOLLOWER') !== null &&
        error.errors[0]?.path === '/responses/0/partitions/1',
      `${version}`,
    )
  }
})

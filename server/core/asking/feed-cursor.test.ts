import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../plain/errors.ts'
import { type FeedCursor, parseFeedCursor, toFeedCursor } from './feed-cursor.ts'

const cursors = fc.record<FeedCursor>(
  {
    position: fc.bigInt(0n, 10n ** 18n - 1n).map(String),
    sequence: fc.nat(999_999_999),
    id: fc.uuid(),
    seenUntilMs: fc.nat(Number.MAX_SAFE_INTEGER).map((ms) => ms % 10 ** 15),
  },
  { noNullPrototype: true },
)

test('a cursor is read as it was made, for the client that it was made for', () => {
  fc.assert(
    fc.property(cursors, fc.uuid(), fc.uuid(), (cursor, client, other) => {
      const text = toFeedCursor(client, cursor)
      assert.match(text, /^[\w-]{1,512}$/)
      assert.deepEqual(parseFeedCursor(client, text), cursor)
      if (client !== other) assert.throws(() => parseFeedCursor(other, text), ServiceError)
    }),
  )
})

test('one character changed, and it is refused or the same position', () => {
  fc.assert(
    fc.property(cursors, fc.nat(), fc.constantFrom(...'ABCxyz019-_'), (cursor, at, character) => {
      const text = toFeedCursor('client', cursor)
      const changed = text
        .split('')
        .with(at % text.length, character)
        .join('')
      try {
        assert.deepEqual(parseFeedCursor('client', changed), cursor)
      } catch (error) {
        assert.ok(error instanceof ServiceError)
        assert.equal(error.code, 'invalid-query')
      }
    }),
  )
})

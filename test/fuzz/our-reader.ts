// What our reader makes of an answer, cut where the caller says.

import { BrokenAnswer } from '../../server/delivery/sending/answer-lines.ts'
import { AnswerReader, NO_BYTES } from '../../server/delivery/sending/answer-reader.ts'
import type { Reading } from './node-reader.ts'

/** One buffer for all pieces, as the sockets have: what is not copied is spoilt by the next piece. */
const shared = Buffer.alloc(64 * 1024)

/** `cuts`: where a piece ends, in rising order. The reader may remember a head of before. */
export function readByUs(
  answer: Buffer,
  cuts: readonly number[],
  remembered = { bytes: NO_BYTES, head: null },
): Reading {
  const reading: Reading = {
    status: 0,
    retryAfter: undefined,
    body: '',
    isWhole: false,
    isKept: false,
  }
  const reader = new AnswerReader(remembered)
  reader.expect({
    onHead: ({ status, retryAfter }) => {
      if (reading.status !== 0) throw new Error('a second head')
      Object.assign(reading, { status, retryAfter })
    },
    onBody: (bytes) => {
      if (reading.status === 0 || reading.isWhole) throw new Error('a body out of place')
      reading.body += bytes.toString('latin1')
    },
    onWhole: ({ keptMs }) => {
      if (reading.status === 0 || reading.isWhole) throw new Error('an end out of place')
      reading.isWhole = true
      reading.isKept = keptMs > 0
    },
  })
  try {
    let at = 0
    for (const cut of [...cuts, answer.length]) {
      const size = answer.copy(shared, 0, at, cut)
      reader.take(shared.subarray(0, size))
      shared.fill('!', 0, size)
      at = cut
    }
    reader.end()
  } catch (error) {
    if (!(error instanceof BrokenAnswer)) throw error
    // What comes after a whole answer breaks the connection; cut apart, it comes when the answer is over.
    reading.isWhole = false
    reading.isKept = false
  }
  return reading
}

// Answers at the bounds of our reader, from dice: a little below, right at, or a little above what it takes of a head, of
// interim answers, of the extensions of chunks and of a trailer. Above, it refuses; Node's own bounds are wider.

import type { Dice } from '../simulator/dice.ts'
import { type Answer, pick } from './answers.ts'

const HEAD_BYTES_MAX = 16 * 1024
const EXTENSION_BYTES_MAX = 4 * 1024
const INTERIM_MAX = 1_000
const BESIDE = [-2, -1, 0, 0, 1, 2]
const LENGTH = 'Content-Length: 2\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

export function makeLargeAnswer(dice: Dice): Answer {
  return pick(dice, [makeHead, makeInterims, makeExtensions, makeTrailer])(dice)
}

function makeHead(dice: Dice): Answer {
  const beside = pick(dice, BESIDE)
  // Empty lines before an answer are counted with its head.
  const before = pick(dice, ['', '', '\r\n', '\r\n'.repeat(3_000)])
  const bare = `${before}HTTP/1.1 200 OK\r\n${LENGTH}\r\n`
  const fields = makeFields(dice, HEAD_BYTES_MAX + beside - bare.length)
  const text = `${before}HTTP/1.1 200 OK\r\n${fields}${LENGTH}\r\nok`
  return toAnswer(text, beside <= 0 ? 'whole' : 'no head')
}

function makeInterims(dice: Dice): Answer {
  const beside = pick(dice, BESIDE)
  if (dice.next() < 0.5) {
    const interims = 'HTTP/1.1 102 x\r\n\r\n'.repeat(INTERIM_MAX + beside)
    return toAnswer(
      `${interims}HTTP/1.1 200 OK\r\n${LENGTH}\r\nok`,
      beside <= 0 ? 'whole' : 'no head',
    )
  }
  const bare = 'HTTP/1.1 103 x\r\n\r\n'
  const fields = makeFields(dice, HEAD_BYTES_MAX + beside - bare.length)
  const interim = `HTTP/1.1 103 x\r\n${fields}\r\n`
  return toAnswer(`${interim}HTTP/1.1 200 OK\r\n${LENGTH}\r\nok`, beside <= 0 ? 'whole' : 'no head')
}

function makeExtensions(dice: Dice): Answer {
  const beside = pick(dice, BESIDE)
  let left = EXTENSION_BYTES_MAX + beside
  let text = ''
  let body = ''
  while (left > 0) {
    // Nobody can write an extension of one byte.
    const size = left < 1_000 ? left : 2 + Math.floor(dice.next() * 900)
    text += `1${toExtension(dice, size)}\r\na\r\n`
    body += 'a'
    left -= size
  }
  if (beside > 0) body = body.slice(0, -1)
  const answer = `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n${text}0\r\n\r\n`
  return toAnswer(answer, beside <= 0 ? 'whole' : 'head', body)
}

function toExtension(dice: Dice, size: number): string {
  const more = size - 4
  if (more < 1 || dice.next() < 0.3) return `;${'e'.repeat(size - 1)}`
  if (dice.next() < 0.5 || more < 2) return `;e=${'v'.repeat(more + 1)}`
  return `;e="${'\\"'.repeat((more - 1) >> 1)}${'q'.repeat((more - 1) & 1)}"`
}

function makeTrailer(dice: Dice): Answer {
  const beside = pick(dice, BESIDE)
  const fields = makeFields(dice, HEAD_BYTES_MAX + beside - 2)
  const answer = `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n2\r\nok\r\n0\r\n${fields}\r\n`
  return toAnswer(answer, beside <= 0 ? 'whole' : 'head')
}

/** One long field, or as many as there is room for. */
function makeFields(dice: Dice, bytes: number): string {
  if (dice.next() < 0.5) return `${'n'.repeat(4)}:${pick(dice, ['v', ' ']).repeat(bytes - 7)}\r\n`
  const count = Math.floor(bytes / 4) - 1
  return `${'a:\r\n'.repeat(count)}b:${'c'.repeat(bytes - 4 * count - 4)}\r\n`
}

function toAnswer(text: string, readTo: 'whole' | 'head' | 'no head', body = 'ok'): Answer {
  const expected = {
    status: readTo === 'no head' ? 0 : 200,
    retryAfter: undefined,
    body: readTo === 'no head' ? '' : body,
    isWhole: readTo === 'whole',
  }
  return { bytes: Buffer.from(text, 'latin1'), expected }
}

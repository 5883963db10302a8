// Answers from dice: whole and right ones, with what they have to be read as, and spoilt ones, of which nobody knows.

import type { Dice } from '../simulator/dice.ts'
import type { Reading } from './node-reader.ts'

/** An answer, and how it has to be read; how long its connection is kept is held by hand-made cases. */
export interface Answer {
  bytes: Buffer
  expected: Omit<Reading, 'isKept'>
}

export function pick<T>(dice: Dice, items: readonly T[]): T {
  return items[Math.floor(dice.next() * items.length)] as T
}

const INTERIMS = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
  'HTTP/1.1 102\r\n\r\n',
]
const STATUSES = [200, 200, 200, 201, 204, 304, 302, 400, 404, 410, 429, 500, 503, 599]
const REASONS = ['', ' ', ' OK', ' Ça va', ' a\tb  ']
const FIELDS = [
  'Date: Tue, 17 Nov 2026 20:00:00 GMT',
  'content-type:text/plain',
  'X-Empty:',
  'X-Odd: \t a, b ; "c"\t ',
  'Connection: keep-alive',
  'Connection: close',
  'Connection: x , Keep-Alive',
  'Connection: close\xa0, keep-alive\xa0',
  'Keep-Alive: timeout=5, max=100',
  'Set-Cookie: a=b',
  'Upgrade: h2c',
]
const EXTENSIONS = ['', '', ';a', ';a=b', ';a="b c"', ';a;b=1']

/** A right one. */
export function makeAnswer(dice: Dice): Answer {
  const status = pick(dice, STATUSES)
  const minor = pick(dice, ['1', '1', '1', '0'])
  const lines = [`HTTP/1.${minor} ${status}${pick(dice, REASONS)}`]
  while (dice.next() < 0.5) lines.push(pick(dice, FIELDS))
  let retryAfter: string | undefined
  if (dice.next() < 0.3) {
    retryAfter = pick(dice, ['120', 'Tue, 17 Nov 2026 20:00:00 GMT', ''])
    lines.push(`Retry-After: ${retryAfter}`)
  }
  const hasBody = status !== 204 && status !== 304
  let body = hasBody && dice.next() < 0.7 ? makeBody(dice) : ''
  const framing = pick(dice, ['length', 'chunks', 'close'] as const)
  let text = body
  if (framing === 'length' || !hasBody) {
    lines.push(`${pick(dice, ['Content-Length', 'content-length'])}: ${body.length}`)
  } else if (framing === 'chunks') {
    lines.push(`Transfer-Encoding: ${pick(dice, ['chunked', 'Chunked', 'chunked '])}`)
    text = toChunks(dice, body)
  }
  if (!hasBody) body = ''
  let interims = pick(dice, ['', '', '', '\r\n'])
  while (dice.next() < 0.2) interims += pick(dice, INTERIMS)
  const bytes = Buffer.from(`${interims}${lines.join('\r\n')}\r\n\r\n${text}`, 'latin1')
  return { bytes, expected: { status, retryAfter, body, isWhole: true } }
}

function makeBody(dice: Dice): string {
  const alphabet = pick(dice, ['ab', '\r\n0', 'HTTP/1.1 200 OK\r\n\r\n', '\0\xff{}"'])
  const size = Math.floor(dice.next() ** 2 * 60)
  return Array.from({ length: size }, () => pick(dice, [...alphabet])).join('')
}

function toChunks(dice: Dice, body: string): string {
  let text = ''
  for (let at = 0; at < body.length; ) {
    const size = Math.min(body.length - at, 1 + Math.floor(dice.next() * 20))
    const hex = pick(dice, [
      size.toString(16),
      size.toString(16).toUpperCase(),
      `0${size.toString(16)}`,
    ])
    text += `${hex}${pick(dice, EXTENSIONS)}\r\n${body.slice(at, at + size)}\r\n`
    at += size
  }
  const trailer = dice.next() < 0.2 ? 'X-Trailer: a\r\n' : ''
  return `${text}0${pick(dice, EXTENSIONS)}\r\n${trailer}\r\n`
}

/** What breaks readers: line ends, spaces, framing twice, numbers that are none. */
const SPOILERS = [
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  '\0',
  ':',
  ';',
  ',',
  '=',
  '"',
  '\\',
  '\x7f',
  '\x80',
  '\xff',
  '\x0b',
  '\x0c',
  '0',
  '1',
  '9',
  'f',
  'g',
  '+',
  '-',
  '0x',
  '_',
  '.',
  '%',
  '\r\n ',
  '\r\n\t',
  ' :',
  ': ',
  '\r\n\r\n',
  '\n\n',
  '\r\r\n',
  'Content-Length: 3\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: +3\r\n',
  'Content-Length: 3,3\r\n',
  'Content-Length: 0x3\r\n',
  'Content-Length:\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Content-Length : 3\r\n',
  'Content-Length: 3\t\r\n',
  'Content-Length:\t3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Transfer-Encoding: chunked\t\r\n',
  'Transfer-Encoding:\tchunked\r\n',
  'Transfer-Encoding: chunked, gzip\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Transfer-Encoding:\r\n',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
  'Connection: upgrade\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Connection: keep-alive\t\r\n',
  'Connection:\tkeep-alive , x\r\n',
  'Connection: close',
  'close',
  'Upgrade: x\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.1 101 x\r\n\r\n',
  'HTTP/1.1 100 x\r\n\r\n',
  'HTTP/2.0',
  'HTTP/0.9',
  'HTTP/1.2',
  '0\r\n\r\n',
  '5\r\nabcde\r\n',
  ';a=b',
  ';a="',
  ';=',
  '; a',
  ' ;a',
  'Retry-After: 1\r\n',
  'Trailer: x\r\n',
  'Proxy-Connection: close\r\n',
  'X-\xe9: a\r\n',
  'X:',
  ':x\r\n',
]

/** One to four changes at random places, most of them where a line or a word ends. */
export function spoil(dice: Dice, bytes: Buffer, other: Buffer): Buffer {
  let text = bytes.toString('latin1')
  for (let changes = 1 + Math.floor(dice.next() * 4); changes > 0; changes -= 1) {
    const at = placeIn(dice, text)
    const spoiler = pick(dice, SPOILERS)
    const kind = Math.floor(dice.next() * 7)
    if (kind <= 1) text = text.slice(0, at) + spoiler + text.slice(at)
    else if (kind === 2) text = text.slice(0, at) + spoiler + text.slice(at + spoiler.length)
    else if (kind === 3) text = text.slice(0, at) + text.slice(at + 1 + Math.floor(dice.next() * 4))
    else if (kind === 4)
      text = text.slice(0, at) + String.fromCharCode(dice.next() * 256) + text.slice(at + 1)
    else if (kind === 5) text = text.slice(0, at)
    else
      text =
        text.slice(0, at) + other.toString('latin1').slice(placeIn(dice, other.toString('latin1')))
  }
  // An interim answer of HTTP/1.0 ends the connection for Node; we pass over it, as over any other.
  return Buffer.from(text.replaceAll('HTTP/1.0 1', 'HTTP/1.1 1'), 'latin1')
}

function placeIn(dice: Dice, text: string): number {
  const at = Math.floor(dice.next() * (text.length + 1))
  if (dice.next() < 0.4) return at
  const line = text.indexOf(pick(dice, ['\r\n', ':', ' ', '\n']), at)
  return line === -1 ? at : line + pick(dice, [0, 1, 2])
}

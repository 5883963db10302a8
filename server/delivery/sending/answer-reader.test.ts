import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnswerHead, HeadParser } from './answer-head.ts'
import { BrokenAnswer } from './answer-lines.ts'
import { AnswerReader, NO_BYTES } from './answer-reader.ts'

/** What one answer is read as; throws where it is refused. */
function read(...pieces: string[]) {
  const calls: string[] = []
  let head: AnswerHead | null = null
  const reader = new AnswerReader({ bytes: NO_BYTES, head: null })
  reader.expect({
    onHead: (given, isWhole) => {
      head = given
      calls.push(`head ${given.status}${isWhole ? ' whole' : ''}`)
    },
    onBody: (bytes) => calls.push(`body ${bytes.toString('latin1')}`),
    onWhole: () => calls.push('whole'),
  })
  for (const piece of pieces) reader.take(Buffer.from(piece, 'latin1'))
  return { calls, reader, head: head as AnswerHead | null }
}

function headOf(...lines: string[]): AnswerHead {
  return read(`${lines.join('\r\n')}\r\n\r\n`).head ?? assert.fail('no head')
}

test('a body ends with its length, its last chunk, or the connection', () => {
  const length = read('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  assert.deepEqual(length.calls, ['head 200 whole', 'body ok', 'whole'])
  const chunks = read(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n',
  )
  assert.deepEqual(chunks.calls, ['head 200', 'body ok', 'whole'])
  const open = read('HTTP/1.1 200 OK\r\n\r\n', 'ok')
  assert.deepEqual(open.calls, ['head 200', 'body ok'])
  assert.equal(open.reader.end(), true)
  assert.deepEqual(open.calls.at(-1), 'whole')
  for (const cut of ['', 'HTTP/1.1 200', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no']) {
    assert.equal(read(cut).reader.end(), false, cut)
  }
})

test('204, 304 and interim answers have no body, whatever they say', () => {
  for (const status of [204, 304]) {
    const { calls } = read(`HTTP/1.1 ${status} x\r\nContent-Length: 5\r\n\r\n`)
    assert.deepEqual(calls, [`head ${status} whole`, 'whole'])
  }
  assert.equal(new HeadParser('HTTP/1.1 103 x').end().bodyBytes, 0)
  const interim = 'HTTP/1.0 100\r\nContent-Length: 5\r\n\r\n'
  assert.deepEqual(read(`${interim}HTTP/1.1 204 x\r\n\r\n`).calls, ['head 204 whole', 'whole'])
})

test('how long a connection is kept: as its version, `Connection` and `Keep-Alive` say', () => {
  const cases: [string[], number][] = [
    [['HTTP/1.1 200 OK', 'Content-Length: 0'], Infinity],
    [['HTTP/1.0 200 OK', 'Content-Length: 0'], 0],
    [['HTTP/1.0 200 OK', 'Connection: Keep-Alive', 'Content-Length: 0'], Infinity],
    [['HTTP/1.1 200 OK', 'Connection: x, Close', 'Content-Length: 0'], 0],
    [['HTTP/1.1 200 OK', 'Proxy-Connection: close', 'Content-Length: 0'], 0],
    [['HTTP/1.1 200 OK', 'Keep-Alive: timeout=5, max=9', 'Content-Length: 0'], 3_000],
    [['HTTP/1.1 200 OK', 'Keep-Alive: timeout=2', 'Content-Length: 0'], 0],
    [['HTTP/1.1 200 OK'], 0],
    [['HTTP/1.0 200 OK', 'Connection: keep-alive\xa0', 'Content-Length: 0'], 0],
    [['HTTP/1.0 200 OK', 'Connection: keep-alive\t', 'Content-Length: 0'], Infinity],
    [['HTTP/1.1 200 OK', 'Connection: close\t', 'Content-Length: 0'], 0],
    // A body that there cannot be may come all the same.
    [['HTTP/1.1 204 x', 'Content-Length: 5'], 0],
    [['HTTP/1.1 204 x', 'Transfer-Encoding: chunked'], 0],
    [['HTTP/1.1 204 x', 'Content-Length: 0'], Infinity],
    [['HTTP/1.1 304 x'], Infinity],
    [['HTTP/1.0 200 OK', 'Connection: keep-alive', 'Transfer-Encoding: chunked'], 0],
  ]
  for (const [lines, keptMs] of cases) assert.equal(headOf(...lines).keptMs, keptMs, lines.join())
})

test('of several Retry-After the first counts, without the spaces around it', () => {
  const head = headOf('HTTP/1.1 503 x', 'RETRY-AFTER:\t 5 ', 'Retry-After: 6', 'Content-Length: 0')
  assert.equal(head.retryAfter, '5')
})

test('what could be read in two ways is refused', () => {
  const heads = [
    'HTTP/1.1 600 x',
    'HTTP/1.1 099 x',
    'HTTP/1.1 20 x',
    'HTTP/1.1 2000',
    'HTTP/1.1  200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/2.0 200 OK',
    'HTTP/1.1 101 x',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0',
    'HTTP/1.1 200 OK\r\nContent-Length: 1, 1',
    'HTTP/1.1 200 OK\r\nContent-Length: +1',
    'HTTP/1.1 200 OK\r\nContent-Length:',
    'HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\t',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding:\tchunked',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\t',
    'HTTP/1.1 200 OK\r\nX : a',
    'HTTP/1.1 200 OK\r\nX: a\r\n b',
    'HTTP/1.1 200 OK\r\n: a',
    'HTTP/1.1 200 OK\r\nX',
    'HTTP/1.1 200 OK\r\n X: a',
    'HTTP/1.1 200 OK\r\nX\xe9: a',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 200 O\0',
    'HTTP/1.1 200 OK\r\nX: a\0',
    'HTTP/1.1 200 OK\r\nX: a\rb',
    'HTTP/1.1 200 OK\nX: a',
    '\nHTTP/1.1 200 OK',
    'HTTP/1.1 100 x\r\nConnection: close',
    'HTTP/1.1 100 x\r\nProxy-Connection: close',
  ]
  for (const head of heads) {
    assert.throws(() => read(`${head}\r\n\r\n`), BrokenAnswer, JSON.stringify(head))
  }
  for (const body of [
    'g\r\n',
    '\r\n',
    '-1\r\n',
    '1 \r\n',
    '1;\r\n',
    '1; a\r\n',
    '1 ;a\r\n',
    '1;=b\r\n',
    '1;a=\r\n',
    '1;a=b c\r\n',
    '1;a="\r\n',
    '1;a="\\"\r\n',
    '1;a="\\\r\n',
    '1;a="b"c\r\n',
    '1;a="\x80"\r\n',
    '0000000000001\r\n',
    '1\n',
    '1\r\nabc',
    '1\r\nabc\r\n',
    '1\r\na\n',
    '0\r\nContent-Length: 0\r\n',
    '0\r\ntransfer-encoding: chunked\r\n',
    '0\r\nX: a\r\n b\r\n',
    '0\r\nX: a\n',
    '0\r\n\n',
  ]) {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    assert.throws(() => read(head + body), BrokenAnswer, JSON.stringify(body))
  }
})

test('extensions of chunks are passed over, quoted ones too', () => {
  for (const line of ['1;a', '1;a=b', '01;a="b;c";d', '1;a="\\"\\\\\t"', '1;a=""', '00001;x']) {
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    const { calls } = read(`${chunked}${line}\r\nx\r\n0;a=b\r\n\r\n`)
    assert.deepEqual(calls, ['head 200', 'body x', 'whole'], line)
  }
})

test('what cannot become right is refused before its line ends', () => {
  for (const begun of ['<', 'HTTP/2', 'HTTP/1.1 200 OK\0', 'HTTP/1.1 200 OK\r\nX: a\rb', '\r\r']) {
    assert.throws(() => read(...begun), BrokenAnswer, JSON.stringify(begun))
  }
})

test('nothing grows without an end: heads, interim answers, extensions, trailers', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const x = 'x'.repeat(1_000)
  const endless: [string, string][] = [
    ['HTTP/1.1 200 OK\r\nX: ', x],
    ['HTTP/1.1 200 OK\r\n', `X: ${x}\r\n`],
    ['', '\r\n'],
    ['', 'HTTP/1.1 103 x\r\n\r\n'],
    [chunked, `1;${x}\r\na\r\n`],
    [`${chunked}1;`, x],
    [`${chunked}0\r\n`, `X: ${x}\r\n`],
  ]
  for (const [begun, more] of endless) {
    const pieces = [begun, ...Array.from({ length: 10_000 }, () => more)]
    assert.throws(() => read(...pieces), BrokenAnswer, JSON.stringify(begun + more.slice(0, 20)))
  }
})

test('the last that is taken, and the first that is not', () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const bounds: [number, (size: number) => string][] = [
    [
      16_384,
      (size) => `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX:${'x'.repeat(size - 42)}\r\n\r\n`,
    ],
    [16_384, (size) => `${'\r\n'.repeat(8_000)}HTTP/1.1 200 ${'x'.repeat(size - 16_017)}\r\n\r\n`],
    [16_384, (size) => `HTTP/1.1 103 x\r\nX:${'x'.repeat(size - 22)}\r\n\r\n${ok}`],
    [1_000, (size) => 'HTTP/1.1 103 x\r\n\r\n'.repeat(size) + ok],
    [
      4_096,
      (size) => `${chunked}1;${'x'.repeat(2_047)}\r\na\r\n0;${'x'.repeat(size - 2_049)}\r\n\r\n`,
    ],
    [16_384, (size) => `${chunked}0\r\nX:${'x'.repeat(size - 6)}\r\n\r\n`],
  ]
  for (const [size, make] of bounds) {
    const { calls } = read(make(size))
    assert.equal(calls[0]?.startsWith('head 200'), true, make(size).slice(0, 60))
    assert.throws(() => read(make(size + 1)), BrokenAnswer, make(size).slice(0, 60))
  }
  // A head that is known by its bytes is counted like any other.
  const remembered = { bytes: NO_BYTES, head: null }
  for (const lines of [0, 8_192]) {
    const reader = new AnswerReader(remembered)
    reader.expect({ onHead: () => {}, onBody: () => {}, onWhole: () => {} })
    const take = () => reader.take(Buffer.from('\r\n'.repeat(lines) + ok))
    if (lines === 0) take()
    else assert.throws(take, BrokenAnswer)
  }
})

test('bytes after an answer, or before a request, are nobody’s', () => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  assert.throws(() => read(`${answer}H`), BrokenAnswer)
  assert.throws(() => read(answer, '\r\n'), BrokenAnswer)
  const idle = new AnswerReader({ bytes: NO_BYTES, head: null })
  assert.throws(() => idle.take(Buffer.from(answer)), BrokenAnswer)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCsv } from './csv.ts'
import { readRows } from './endpoint-rows.ts'

const ACCOUNT = '3b1f0a52-7c86-4d1e-9f0a-8e2d5c4b6a70'

test('CSV is read as RFC 4180 has it', () => {
  assert.deepEqual(parseCsv('a,b\r\n"x, ""y""\nz",2\n\n,\n'), [
    ['a', 'b'],
    ['x, "y"\nz', '2'],
    ['', ''],
  ])
  assert.deepEqual(parseCsv(''), [])
  assert.throws(() => parseCsv('a,"b'), /never closed/)
})

test('columns go by their own names and by those of other senders', () => {
  const csv =
    '\ufeffURL,Secret,Header Name,events,accountId,colour\n' +
    `https://a.example/x,"key, one",X-Acme-Signature,payment.paid;payment.due,${ACCOUNT.toUpperCase()},red\n` +
    'https://b.example/,k2,,,,\n'
  const [one, two] = readRows(csv, 'csv')
  assert.deepEqual(one, {
    row: 1,
    accountId: ACCOUNT,
    body: {
      callbackUrl: 'https://a.example/x',
      sharedKey: 'key, one',
      hmacHeaderName: 'X-Acme-Signature',
      events: ['payment.paid', 'payment.due'],
    },
    faults: [],
  })
  assert.deepEqual(two?.body, { callbackUrl: 'https://b.example/', sharedKey: 'k2' })
})

test('JSON is a list, or an object with one', () => {
  const endpoint = { url: 'https://a.example/', secret: 'k', document: 'link', description: null }
  const expected = { callbackUrl: 'https://a.example/', sharedKey: 'k', document: 'link' }
  for (const value of [[endpoint], { endpoints: [endpoint] }]) {
    assert.deepEqual(readRows(JSON.stringify(value), 'json')[0]?.body, expected)
  }
  for (const text of ['{', '7', '{}', '[]', 'null']) assert.throws(() => readRows(text, 'json'))
})

test('what is wrong names row and column, and never a secret', () => {
  const rows = readRows(
    JSON.stringify([
      { url: 'ftp://a.example/', secret: 'canary', header: 'Acme', events: ['payment.lost'] },
      { url: 'https://a.example/', deliver: 'newest', accountId: 'x' },
      { url: 'https://b.example/', secret: 'k' },
      { url: 'https://B.example:443/', secret: 'k' },
    ]),
    'json',
  )
  const columns = rows.map(({ faults }) => faults.map((fault) => fault.split(':')[0]))
  assert.deepEqual(columns, [
    ['callbackUrl', 'hmacHeaderName', 'events'],
    ['sharedKey', 'deliver', 'accountId'],
    [],
    ['callbackUrl'],
  ])
  assert.match(rows[3]?.faults[0] ?? '', /row 3/)
  assert.doesNotMatch(JSON.stringify(rows.map(({ faults }) => faults)), /canary/)
  assert.throws(() => readRows('url,name\nhttps://a.example/,x\n', 'csv'), /has no sharedKey/)
})

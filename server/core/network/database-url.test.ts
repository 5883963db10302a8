import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOfCell, parseDatabaseUrl } from './database-url.ts'

const urlsOf = (text: string) => parseDatabaseUrl(text)?.urls

test('one host stays as it was written', () => {
  for (const url of [
    'postgres://db/paybell',
    'postgresql://user:p%40ss@db.example.com:6432/paybell',
    'postgres://user@[::1]:5432/paybell',
    'postgres://localhost:5432/postgres?host=%2Ftmp%2Fpaybell-x',
    'postgres:///paybell?host=%2Frun%2Fpostgresql',
    'postgres://db',
    'postgres://u@db/paybell?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem',
  ]) {
    assert.deepEqual(parseDatabaseUrl(url), {
      urls: [url],
      mustTakeWrites: false,
      cell: 0,
      connectMsMax: null,
    })
  }
})

test('regression: several hosts are an address for each, in order', () => {
  assert.deepEqual(
    parseDatabaseUrl('postgres://u:p@a:5432,b:5433/db?target_session_attrs=read-write'),
    {
      urls: ['postgres://u:p@a:5432/db', 'postgres://u:p@b:5433/db'],
      mustTakeWrites: true,
      cell: 0,
      connectMsMax: null,
    },
  )
  // As in libpq: a port belongs to the host that it follows.
  assert.deepEqual(urlsOf('postgres://a,b:5433/db'), ['postgres://a/db', 'postgres://b:5433/db'])
  assert.deepEqual(urlsOf('postgres://[::1]:1,[::2]:2/db'), [
    'postgres://[::1]:1/db',
    'postgres://[::2]:2/db',
  ])
  assert.deepEqual(urlsOf('postgres://u@/db?host=/run/a,/run/b&port=5432,5433&ssl=0'), [
    'postgres://u@/db?ssl=0&host=%2Frun%2Fa&port=5432',
    'postgres://u@/db?ssl=0&host=%2Frun%2Fb&port=5433',
  ])
})

test('one host may be asked to take writes, too', () => {
  const address = parseDatabaseUrl('postgres://db/paybell?target_session_attrs=primary')
  assert.equal(address?.mustTakeWrites, true)
  assert.deepEqual(address?.urls, ['postgres://db/paybell'])
})

test('an address may say how long connecting may take, in seconds, and the driver does not see it', () => {
  const address = parseDatabaseUrl('postgres://a,b/db?connect_timeout=60&ssl=0')
  assert.equal(address?.connectMsMax, 60_000)
  assert.deepEqual(address?.urls, ['postgres://a/db?ssl=0', 'postgres://b/db?ssl=0'])
  for (const text of ['', '0', '-1', '601', 'soon']) {
    const { connectMsMax } = parseDatabaseUrl(`postgres://db/x?connect_timeout=${text}`) ?? {}
    assert.equal(connectMsMax, null, text)
  }
})

test('the modes of TLS that the driver warns of are called by the name of what it does', () => {
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    assert.deepEqual(urlsOf(`postgres://db/x?sslmode=${mode}`), [
      'postgres://db/x?sslmode=verify-full',
    ])
  }
  for (const query of [
    'sslmode=disable',
    'sslmode=no-verify',
    'uselibpqcompat=true&sslmode=require',
  ]) {
    assert.equal(
      new URLSearchParams(urlsOf(`postgres://db/x?${query}`)?.[0]?.split('?')[1]).get('sslmode'),
      new URLSearchParams(query).get('sslmode'),
    )
  }
})

test('an address names its cell, and the driver does not see it', () => {
  for (const url of ['postgres://db/paybell', 'postgres://db/paybell?ssl=0', 'postgres://a,b/x']) {
    const before = parseDatabaseUrl(url)
    assert.equal(addressOfCell(url, 0), url)
    assert.deepEqual(parseDatabaseUrl(addressOfCell(url, 7)), { ...before, cell: 7 })
    assert.equal(addressOfCell(addressOfCell(url, 7), 0), url)
    assert.equal(addressOfCell(addressOfCell(url, 7), 8), addressOfCell(url, 8))
  }
  for (const wrong of ['1024', '-1', '07', 'x', '']) {
    assert.equal(parseDatabaseUrl(`postgres://db/paybell?paybell_cell=${wrong}`), undefined, wrong)
  }
})

test('what is no address of a database that takes writes is refused', () => {
  for (const text of [
    'mysql://db/x',
    'db.example.com',
    'postgres://a:1,b:x/db',
    'postgres://a,,b/db',
    'postgres://u@/db?host=a,b,c&port=1,2',
    'postgres://a,b/db?target_session_attrs=any',
    'postgres://a,b/db?target_session_attrs=standby',
    'postgres://a/db?target_session_attrs=read-only',
    '',
  ]) {
    assert.equal(parseDatabaseUrl(text), undefined, text)
  }
})

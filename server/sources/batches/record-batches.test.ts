import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  aborted,
  around,
  batch,
  control,
  emptied,
  encode,
  fetched,
  pretend,
} from '../../../test/support/kafka-batches.ts'
import { readHeaders } from './batch-records.ts'
import { type FetchedPartition, type Opened, readBatches } from './record-batches.ts'

async function read(partition: FetchedPartition, position = 0n, opened?: Opened) {
  const all = await Array.fromAsync(readBatches(partition, position, opened))
  const records = all.filter((one) => one.kind === 'record')
  const refused = all.filter((one) => one.kind === 'refused')
  const passed = all.filter((one) => one.kind === 'passed')
  return { records, refused, next: passed.at(-1)?.next ?? position }
}

const offsetsOf = async (partition: FetchedPartition, position = 0n) => {
  const { records, next } = await read(partition, position)
  return { offsets: records.map(({ offset }) => Number(offset)), next: Number(next) }
}

test('records before the position are left out, although their batch comes whole', async () => {
  const partition = fetched(0, [batch(3n, ['a', 'b', 'c']), batch(6n, ['d'])])
  assert.deepEqual(await offsetsOf(partition, 4n), { offsets: [4, 5, 6], next: 7 })
})

test('where compaction has left nothing, the position goes on', async () => {
  assert.deepEqual(await offsetsOf(fetched(0, [emptied(3n, 4)]), 3n), { offsets: [], next: 8 })
  assert.deepEqual(await offsetsOf(fetched(0, []), 3n), { offsets: [], next: 3 })
})

test('a batch that is cut off at the end of an answer is left for the next', async () => {
  const whole = batch(3n, ['a'])
  const cut = batch(4n, ['b']).subarray(0, -1)
  assert.deepEqual(await offsetsOf(fetched(0, [whole, cut]), 3n), { offsets: [3], next: 4 })
})

test('records of an aborted transaction are left out, up to its end and no further', async () => {
  const partition = aborted(
    fetched(0, [
      batch(0n, ['before'], 7n),
      control(1n, 'commit', 7n),
      batch(2n, ['aborted'], 7n),
      batch(3n, ['of another'], 8n),
      batch(4n, ['without one']),
      batch(5n, ['aborted, too'], 7n),
      control(6n, 'abort', 7n),
      batch(7n, ['after'], 7n),
    ]),
    { producerId: 7n, firstOffset: 2n },
  )
  assert.deepEqual(await offsetsOf(partition), { offsets: [0, 3, 4, 7], next: 8 })
})

test('an aborted transaction whose end is not in the answer is left out, too', async () => {
  const partition = aborted(fetched(0, [batch(2n, ['a', 'b'], 7n)]), {
    producerId: 7n,
    firstOffset: 2n,
  })
  assert.deepEqual(await offsetsOf(partition, 2n), { offsets: [], next: 4 })
})

test('key, value and headers of every codec are what its producer wrote', async () => {
  const headers = new Map([[Buffer.from('trace'), Buffer.from('a trace')]])
  const values = [null, '', 'a value', 'x'.repeat(70_000), randomBytes(1_500_000)]
  const contents = values.map((value, index) => ({ key: Buffer.from(`${index}`), value, headers }))
  for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
    const { records, refused, next } = await read(
      fetched(0, [encode(5n, contents, { compression })]),
    )
    assert.deepEqual(refused, [], compression)
    assert.equal(next, 10n)
    assert.equal(records.length, values.length, compression)
    for (const [index, { offset, record }] of records.entries()) {
      assert.equal(offset, BigInt(5 + index))
      assert.equal(String(record.key), `${index}`)
      const value = values[index] ?? null
      assert.ok(
        value === null ? record.value === null : record.value?.equals(Buffer.from(value)),
        `${compression} ${index}`,
      )
      assert.deepEqual(
        readHeaders(record.headers, 1)?.map(([name, text]) => `${name}: ${text}`),
        ['trace: a trace'],
      )
    }
  }
})

test('a batch that cannot be read is gone by, named by its offsets, and the next is read', async () => {
  const cases: readonly [what: string, Buffer, codec: string, detail: RegExp][] = [
    ['a codec of its own', pretend(batch(3n, ['a']), { codec: 7 }), 'unknown', /not known/],
    ['no gzip', around(3n, Buffer.from('text'), { codec: 1 }), 'gzip', /decompressed as gzip/],
    ['no snappy', around(3n, Buffer.from('text'), { codec: 2 }), 'snappy', /as snappy/],
    ['no lz4', around(3n, Buffer.from('some text'), { codec: 3 }), 'lz4', /as lz4/],
    ['no zstd', around(3n, Buffer.from('text'), { codec: 4 }), 'zstd', /as zstd/],
    ['an old format', pretend(batch(3n, ['a']), { format: 1 }), 'none', /format 1/],
    ['lengths that lead out of it', around(3n, Buffer.from([200, 1]), {}), 'none', /malformed/],
    ['too many', pretend(batch(3n, ['a']), { count: 100_001 }), 'none', /100000 records/],
  ]
  for (const [what, bytes, codec, detail] of cases) {
    const partition = fetched(0, [pretend(bytes, { last: 6 }), batch(10n, ['next'])])
    const { records, refused, next } = await read(partition, 4n)
    assert.equal(refused.length, 1, what)
    const [one] = refused
    assert.deepEqual([one?.offset, one?.last, one?.codec], [4n, 9n, codec], what)
    assert.equal(one?.problem.code, 'unreadable-batch')
    assert.match(one?.problem.message ?? '', detail)
    assert.deepEqual([records.map(({ offset }) => offset), next], [[10n], 11n], what)
  }
})

test('records before the one that is malformed are taken', async () => {
  const partition = fetched(0, [pretend(batch(0n, ['a', 'b']), { count: 9, last: 8 })])
  const { records, refused, next } = await read(partition)
  assert.deepEqual(
    records.map(({ offset }) => offset),
    [0n, 1n],
  )
  assert.deepEqual(
    refused.map(({ offset, last }) => [offset, last]),
    [[2n, 8n]],
  )
  assert.equal(next, 9n)
})

test('a header whose lengths lead backwards or out of its record is no header', () => {
  for (const bytes of [[2, 5, 5], [2, 20, 65], [9], [], [255, 255, 255, 255, 31]]) {
    assert.equal(readHeaders(Buffer.from(bytes), 100), null, String(bytes))
  }
  assert.deepEqual(readHeaders(Buffer.from([0]), 100), [])
})

test('an answer opens so much and no more: the rest is asked for again', async () => {
  const large = Buffer.alloc(5 * 1_024 * 1_024)
  const batches = [0n, 1n, 2n].map((at) => encode(at, [{ value: large }], { compression: 'zstd' }))
  const opened = { bytes: 0, records: 0 }
  assert.equal((await read(fetched(0, batches), 0n, opened)).next, 2n)
  assert.equal((await read(fetched(1, batches), 0n, opened)).next, 0n, 'of another partition')
  assert.equal((await read(fetched(0, batches), 2n)).next, 3n)

  const many = Array.from({ length: 25_000 }, () => ({ value: '' }))
  const partition = fetched(0, [encode(0n, many, { compression: 'zstd' })])
  const positions = [0n]
  for (let at = 0n; at < 25_000n; positions.push(at)) {
    const { records } = await read(partition, at)
    assert.equal(records[0]?.offset, at)
    at = (records.at(-1)?.offset ?? 0n) + 1n
  }
  assert.deepEqual(positions, [0n, 10_000n, 20_000n, 25_000n])
})

test('a record that is kept does not keep the batch that it came in', async () => {
  const contents = [{ value: 'small' }, { value: Buffer.alloc(2_000_000) }]
  for (const compression of ['none', 'zstd', 'lz4', 'snappy'] as const) {
    const { records } = await read(fetched(0, [encode(0n, contents, { compression })]))
    assert.ok((records[0]?.record.value?.buffer.byteLength ?? 0) < 100_000, compression)
  }
})

// The floor of durability: how often this disk flushes, and how often PostgreSQL commits one row on one
// connection.

import { fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { monotonicMs } from '../harness/monotonic.ts'

export interface Timed {
  perSecond: number
  medianMs: number
}

export async function flushLoop(dir: string, seconds: number): Promise<Timed> {
  const path = join(dir, 'bench-fsync')
  const fd = openSync(path, 'w')
  const block = Buffer.alloc(8_192, 'x')
  // Within a file that has its size already, as PostgreSQL's log segments have.
  for (let at = 0; at < 256; at++) writeSync(fd, block, 0, block.length, at * block.length)
  fdatasyncSync(fd)
  let at = 0
  const timed = await time(seconds, async () => {
    writeSync(fd, block, 0, block.length, (at++ % 256) * block.length)
    fdatasyncSync(fd)
  })
  rmSync(path)
  return timed
}

export async function commitLoop(databaseUrl: string, seconds: number): Promise<Timed> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    'create table if not exists bench_commits (id bigint generated always as identity primary key, text text)',
  )
  const text = 'x'.repeat(335)
  const timed = await time(seconds, async () => {
    await client.query({
      name: 'commit-one',
      text: 'insert into bench_commits (text) values ($1)',
      values: [text],
    })
  })
  await client.end()
  return timed
}

async function time(seconds: number, once: () => Promise<void>): Promise<Timed> {
  const took: number[] = []
  const until = monotonicMs() + seconds * 1_000
  for (let from = monotonicMs(); from < until; ) {
    await once()
    const now = monotonicMs()
    took.push(now - from)
    from = now
  }
  const total = took.reduce((sum, ms) => sum + ms, 0)
  took.sort((a, b) => a - b)
  return {
    perSecond: took.length / (total / 1_000),
    medianMs: took[took.length >> 1] ?? Number.NaN,
  }
}

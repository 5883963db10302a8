// Children of `paybell serve --processes` are killed while callers connect. Every connection is answered or closed within a second,
// and the parent, which has none of them in hand, keeps no descriptor of one.

import assert from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { cloneDatabase } from '../support/database.ts'
import { linesOf, startServe, untilReady } from '../support/served.ts'
import { sized } from '../support/size.ts'
import { until } from '../support/until.ts'

const PROCESSES = 4
const ROUNDS = sized(3, 34)
const CALLERS = 8
/** One that has served for so long is started again at once (processes/place.ts). */
const STEADY_MS = 10_500
const UNANSWERED_MS_MAX = 1_000
/** On a busy machine a child may come to its connections late; one that is left with nobody would wait for ever. */
const HANGING_MS = 20_000

const counts = { answered: 0, cutOff: 0 }

/** Connections that are neither answered nor closed yet, with when they were begun. */
const open = new Map<object, number>()

function callOnce(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    open.set(socket, performance.now())
    let text = ''
    socket.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
    // A reset is an answer, too: the caller knows, and tries again.
    socket.on('error', () => {})
    socket.once('connect', () =>
      socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    )
    socket.once('close', () => {
      open.delete(socket)
      counts[text.startsWith('HTTP/1.1 200') ? 'answered' : 'cutOff'] += 1
      resolve()
    })
  })
}

function countSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(`${folder}/${name}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length
}

test('regression: no connection hangs when children are killed under load', async (t) => {
  const database = await cloneDatabase()
  const served = startServe(t, database, {}, ['--processes', String(PROCESSES)])
  const first = await untilReady(served, PROCESSES)
  const port = Number(new URL(first[0]?.baseUrl ?? assert.fail()).port)
  const parent = served.process.pid ?? assert.fail()
  const alive = new Map(first.map(({ process: number, pid }) => [number, pid]))
  const socketsBefore = countSockets(parent)
  let isOver = false
  t.after(() => {
    isOver = true
  })
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) await callOnce(port)
  })
  let longestMs = 0
  let kills = 0
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now()
    await until('they have served for a while', () => performance.now() - begun > STEADY_MS)
    const survivor = (round % PROCESSES) + 1
    for (const [number, pid] of alive) {
      if (number === survivor) continue
      process.kill(pid, 'SIGKILL')
      kills += 1
      const killedAt = performance.now()
      await until(
        'what was open then is answered or closed',
        () => [...open.values()].every((begunAt) => begunAt > killedAt),
        HANGING_MS,
      )
      longestMs = Math.max(longestMs, performance.now() - killedAt)
    }
    for (const { process: number, pid } of await untilReady(served, PROCESSES + kills)) {
      alive.set(number, pid)
    }
  }
  isOver = true
  await Promise.all(callers)
  assert.equal(linesOf(served, 'process.died').length, kills)
  const figures = `${kills} kills, ${counts.answered} answered, ${counts.cutOff} cut off, at most ${Math.round(longestMs)} ms`
  t.diagnostic(figures)
  assert.ok(longestMs <= limitOf(UNANSWERED_MS_MAX), figures)
  assert.ok(counts.answered > 100 * ROUNDS, figures)
  await until(
    'the parent has no more sockets than before',
    () => countSockets(parent) <= socketsBefore,
  )
})

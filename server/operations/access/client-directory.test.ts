import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { HandClock } from '../../../test/support/injected-server.ts'
import { ClientDirectory } from './client-directory.ts'

/** A database that knows one client, and answers when the test says so. */
function directoryOf(status: 'ACTIVE' | 'DISABLED') {
  const clock = new HandClock()
  const waiting: (() => void)[] = []
  const state = { status, questions: 0, isSlow: false }
  const query = async () => {
    state.questions++
    // What is read is what holds when the question arrives.
    const rows = [{ client_key: 1, id: 'one', name: 'One', status: state.status }]
    if (state.isSlow) await new Promise<void>((resolve) => waiting.push(resolve))
    return { rows }
  }
  const directory = new ClientDirectory({ clock, pool: { query } as unknown as Pool })
  const isActive = async () => (await directory.findActive('one')) !== null
  const answerAll = () => {
    for (const answer of waiting.splice(0)) answer()
  }
  return { clock, state, isActive, answerAll }
}

test('an active client is remembered for two seconds, and callers at the same time share one query', async () => {
  const { clock, state, isActive } = directoryOf('ACTIVE')
  assert.deepEqual(await Promise.all([isActive(), isActive(), isActive()]), [true, true, true])
  assert.equal(state.questions, 1)
  state.status = 'DISABLED'
  clock.advance(1.9)
  assert.equal(await isActive(), true)
  assert.equal(state.questions, 1)
  clock.advance(0.2)
  assert.equal(await isActive(), false)
})

test('regression: a refusal is not remembered: the next caller asks again', async () => {
  const { state, isActive } = directoryOf('DISABLED')
  assert.equal(await isActive(), false)
  state.status = 'ACTIVE'
  assert.equal(await isActive(), true, 'enabled in the same moment')
})

test('a refusal that was under way before a caller came is not the answer to that caller', async () => {
  const { state, isActive, answerAll } = directoryOf('DISABLED')
  state.isSlow = true
  const early = isActive()
  state.status = 'ACTIVE'
  state.isSlow = false
  const late = isActive()
  answerAll()
  assert.deepEqual(await Promise.all([early, late]), [false, true])
})

test('however many come with the token of a disabled client, they share their questions', async () => {
  const { state, isActive } = directoryOf('DISABLED')
  const answers = await Promise.all(Array.from({ length: 100 }, isActive))
  assert.ok(answers.every((isOne) => !isOne))
  assert.ok(state.questions <= 2, `${state.questions} questions`)
})

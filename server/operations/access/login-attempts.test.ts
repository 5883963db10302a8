import assert from 'node:assert/strict'
import test from 'node:test'
import { ServiceError } from '../../core/plain/errors.ts'
import { LoginAttempts } from './login-attempts.ts'

function create() {
  const clock = { ms: 0, nowMs: () => clock.ms, monotonicMs: () => clock.ms }
  return { attempts: new LoginAttempts({ clock }), clock }
}

const SHOP = { name: 'shop', address: '192.0.2.1' }
const wrong = async () => null
const right = async () => 'right'

function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'too-many-requests'
}

test('a check that could not be made says nothing about who asked', async () => {
  const { attempts } = create()
  for (let at = 0; at < 100; at++) {
    await assert.rejects(
      attempts.judge(SHOP, async () => {
        throw new Error('the database is away')
      }),
      /away/,
    )
  }
  assert.equal(await attempts.judge(SHOP, right), 'right')
})

test('who waits while others are judged is judged too, unless those were wrong', async () => {
  const { attempts } = create()
  const verdicts: ((found: string | null) => void)[] = []
  const slow = () => new Promise<string | null>((resolve) => verdicts.push(resolve))
  const logins = Array.from({ length: 12 }, () => attempts.judge(SHOP, slow))
  await new Promise(setImmediate)
  assert.equal(verdicts.length, 10)
  verdicts[0]?.('right')
  assert.equal(await logins[0], 'right')
  await new Promise(setImmediate)
  assert.equal(verdicts.length, 11)
  for (const verdict of verdicts.slice(1)) verdict(null)
  for (const login of logins.slice(1, 11)) assert.equal(await login, null)
  await assert.rejects(logins[11] as Promise<unknown>, isRefused)
})

test('a refused login costs its address nothing, and time brings slots back', async () => {
  const { attempts, clock } = create()
  for (let at = 0; at < 10; at++) assert.equal(await attempts.judge(SHOP, wrong), null)
  for (let at = 0; at < 100; at++) await assert.rejects(attempts.judge(SHOP, wrong), isRefused)
  const other = { ...SHOP, name: 'other' }
  assert.equal(await attempts.judge(other, right), 'right')
  clock.ms += 5_000
  assert.equal(await attempts.judge(SHOP, right), 'right')
})

test('one machine with many IPv6 addresses is one sender', async () => {
  const { attempts } = create()
  const statuses = new Set<string>()
  for (let at = 0; at < 60; at++) {
    const from = { name: `client ${at}`, address: `2001:db8::${at.toString(16)}` }
    statuses.add(
      await attempts.judge(from, wrong).then(
        () => 'wrong',
        () => `refused from ${at}`,
      ),
    )
  }
  assert.deepEqual([...statuses].slice(0, 2), ['wrong', 'refused from 50'])
})

test('guesses at a name that is known at an exhausted address are counted for the name', async () => {
  const { attempts } = create()
  assert.equal(await attempts.judge(SHOP, right), 'right')
  for (let at = 0; at < 50; at++) await attempts.judge({ ...SHOP, name: `other ${at}` }, wrong)
  let checked = 0
  const guess = async () => {
    checked++
    return null
  }
  for (let at = 0; at < 30; at++) await assert.rejects(attempts.judge(SHOP, guess), isRefused)
  assert.equal(checked, 10)
})

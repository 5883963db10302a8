import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lifecycle, Phase, settleAll, UnfinishedStop } from './lifecycle.ts'

/** Steps that record that they were taken; the named ones fail. */
function course(failing: readonly string[] = []) {
  const taken: string[] = []
  const phase = new Phase()
  const step = (name: string) => async () => {
    taken.push(name)
    if (failing.includes(name)) throw new Error(name)
  }
  return {
    taken,
    phase,
    life: new Lifecycle(phase, {
      up: [step('up 1'), step('up 2'), step('up 3')],
      down: [step('down 1'), step('down 2')],
      downMsMax: 60_000,
    }),
  }
}

test('up in order, down in order, each once, however often it is asked', async () => {
  const { taken, life, phase } = course()
  await Promise.all([life.start(), life.start()])
  assert.equal(phase.isLeaving, false)
  await Promise.all([life.stop(), life.stop()])
  await life.stop()
  assert.deepEqual(taken, ['up 1', 'up 2', 'up 3', 'down 1', 'down 2'])
  assert.equal(phase.isStopping, true)
})

test('regression: a start that fails takes everything down before it rejects', async () => {
  for (const failing of ['up 1', 'up 2', 'up 3']) {
    const { taken, life } = course([failing])
    await assert.rejects(life.start(), { message: failing })
    assert.deepEqual(taken.slice(-3), [failing, 'down 1', 'down 2'])
    await life.stop()
    assert.equal(taken.filter((name) => name === 'down 1').length, 1)
  }
})

test('a stop during the start waits for the step under way and takes no further one', async () => {
  const taken: string[] = []
  const first = Promise.withResolvers<void>()
  const life = new Lifecycle(new Phase(), {
    up: [() => first.promise.then(() => taken.push('up 1')), () => taken.push('up 2')],
    down: [() => taken.push('down')],
    downMsMax: 60_000,
  })
  const started = life.start()
  const stopped = life.stop()
  first.resolve()
  await Promise.all([started, stopped])
  assert.deepEqual(taken, ['up 1', 'down'])
})

test('a stop before the start leaves nothing to start', async () => {
  const { taken, life } = course()
  await life.stop()
  await life.start()
  assert.deepEqual(taken, ['down 1', 'down 2'])
})

test('regression: a part that fails to stop does not keep the others from stopping', async () => {
  const one = course(['down 1'])
  await one.life.start()
  await assert.rejects(one.life.stop(), { message: 'down 1' })
  assert.equal(one.taken.at(-1), 'down 2')

  const two = course(['down 1', 'down 2', 'up 2'])
  await assert.rejects(two.life.start(), { message: 'up 2' }, 'the first error is reported')
  await assert.rejects(two.life.stop(), AggregateError)
})

test('settleAll waits for all, and then rejects with what failed', async () => {
  let isOver = false
  const slow = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    isOver = true
  })
  await assert.rejects(settleAll([Promise.reject(new Error('at once')), slow, undefined]), {
    message: 'at once',
  })
  assert.ok(isOver)
})

test('a process that drains goes on with everything; one that stops never goes back to it', () => {
  const phase = new Phase()
  assert.deepEqual([phase.isLeaving, phase.isStopping], [false, false])
  phase.drain()
  assert.deepEqual([phase.isLeaving, phase.isStopping], [true, false])
  phase.stop()
  phase.drain()
  assert.deepEqual([phase.isLeaving, phase.isStopping], [true, true])
})

test('regression: the whole way down ends within its limit, whichever step hangs, that of a start included', async (t) => {
  const never = () => new Promise<void>(() => {})
  for (const { up, down } of [
    { up: [], down: [never, () => {}] },
    { up: [never], down: [() => {}] },
  ]) {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const life = new Lifecycle(new Phase(), { up, down, downMsMax: 19_000 })
    void life.start()
    const stopped = assert.rejects(life.stop(), UnfinishedStop)
    t.mock.timers.tick(19_000)
    await stopped
    t.mock.timers.reset()
  }
})

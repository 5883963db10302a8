import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { Remembered, type RememberedOptions } from './remembered.ts'

const AGE_MS_MAX = 100

/** One question that was asked: it answers with itself, or fails, when the test says so. */
interface Asked {
  key: number
  number: number
  atMs: number
  /** What holds in the world when it is asked. */
  isGood: boolean
}

/** A memory over a world that answers when the test says so. */
function create(options: Partial<RememberedOptions<Asked>> = {}) {
  const world = { nowMs: 0, isGood: true }
  const open: { asked: Asked; answer(): void; fail(): void }[] = []
  const questions: Asked[] = []
  const memory = new Remembered<number, Asked>({
    keysMax: 1_000,
    expiry: { monotonicMs: () => world.nowMs, ageMsMax: AGE_MS_MAX },
    ...options,
  })
  const ask = (key: number) => () =>
    new Promise<Asked>((resolve, reject) => {
      const asked = { key, number: questions.length, atMs: world.nowMs, isGood: world.isGood }
      questions.push(asked)
      open.push({ asked, answer: () => resolve(asked), fail: () => reject(new Error('away')) })
    })
  const get = (key: number, ageMsMax?: number) => memory.get(key, ask(key), ageMsMax)
  /** Ends the question that has waited longest, or the one at `at`. */
  const end = async (how: 'answer' | 'fail', at = 0) => {
    open.splice(at, 1)[0]?.[how]()
    await settle()
  }
  return { world, memory, questions, open, get, end }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('those who come together share one question, and later ones its answer, for its time', async () => {
  const { world, memory, questions, get, end } = create()
  const both = [get(1), get(1)]
  assert.equal(memory.look(1), undefined)
  await end('answer')
  assert.equal(await both[0], await both[1])
  world.nowMs = AGE_MS_MAX - 1
  assert.equal(memory.look(1), questions[0])
  assert.equal(await get(1), questions[0])
  world.nowMs = AGE_MS_MAX
  assert.equal(memory.look(1), undefined)
  assert.equal(memory.last(1), questions[0])
  void get(1)
  assert.equal(questions.length, 2)
})

test('an answer ages from its question on: one that came late is kept for less', async () => {
  const { world, memory, questions, get, end } = create()
  void get(1)
  world.nowMs = 80
  await end('answer')
  assert.equal(memory.look(1), questions[0])
  world.nowMs = 100
  assert.equal(memory.look(1), undefined)
})

test('a caller that needs a younger one asks for it, and what is known serves the others', async () => {
  const { world, memory, questions, get, end } = create()
  void get(1)
  await end('answer')
  world.nowMs = 30
  assert.equal(await get(1, 31), questions[0])
  const younger = get(1, 30)
  assert.equal(memory.look(1), questions[0])
  assert.equal(get(1, 30), younger, 'shared')
  await end('answer')
  assert.equal(await younger, questions[1])
  assert.equal(memory.look(1), questions[1])
  void get(1, 0)
  assert.equal(questions.length, 3, '0 asks in any case')
})

test('how long an answer is kept may depend on how long the question took', async () => {
  const world = { nowMs: 0 }
  const { memory, questions, get, end } = create({
    expiry: { monotonicMs: () => world.nowMs, ageMsMax: (tookMs) => 11 * tookMs },
  })
  void get(1)
  world.nowMs = 10
  void get(1)
  assert.equal(questions.length, 1, 'however long it takes')
  await end('answer')
  world.nowMs = 109
  assert.ok(memory.look(1))
  world.nowMs = 110
  assert.equal(memory.look(1), undefined)
})

test('without an expiry an answer stays until it is forgotten', async () => {
  const memory = new Remembered<void, string>({ keysMax: 1 })
  assert.equal(await memory.get(undefined, async () => 'a'), 'a')
  assert.equal(await memory.get(undefined, async () => 'b'), 'a')
  memory.forget()
  assert.equal(memory.look(), undefined)
  assert.equal(memory.last(), undefined)
  assert.equal(await memory.get(undefined, async () => 'b'), 'b')
})

test('a failure reaches all who wait, and leaves what was known', async () => {
  const { world, memory, questions, get, end } = create()
  const both = [get(1), get(1)]
  await Promise.all([end('fail'), ...both.map((one) => assert.rejects(one, /away/))])
  assert.equal(memory.size, 0)
  void get(1)
  await end('answer')
  world.nowMs = 50
  const younger = get(1, 10)
  await Promise.all([end('fail'), assert.rejects(younger, /away/)])
  assert.equal(memory.look(1), questions[1])
})

test('what is put is known, and an answer that is under way does not replace it', async () => {
  const { memory, get, end } = create()
  const put = { key: 1, number: -1, atMs: 0, isGood: true }
  void get(1)
  memory.put(1, put)
  await end('answer')
  assert.equal(memory.look(1), put)
})

test('an answer that is not kept holds for those who came before it was asked for, not for later ones', async () => {
  const { world, memory, questions, get, end } = create({ isKept: ({ isGood }) => isGood })
  world.isGood = false
  const early = get(1)
  const late = Array.from({ length: 100 }, () => get(1))
  await end('answer')
  assert.equal(await early, questions[0])
  assert.equal(memory.look(1), undefined)
  assert.equal(questions.length, 2, 'the late ones share the next one')
  await end('answer')
  assert.deepEqual(new Set(await Promise.all(late)), new Set([questions[1]]))
  assert.equal(questions.length, 2)
})

type Step =
  | { kind: 'pass'; ms: number }
  | { kind: 'look' | 'get' | 'forget'; key: number }
  | { kind: 'answer' | 'fail'; at: number }
  | { kind: 'change' }

const key = fc.nat(3)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 70 }) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('get' as const), key }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('answer' as const), at: fc.nat(5) }) },
  fc.record({ kind: fc.constantFrom('look' as const, 'forget' as const), key }),
  fc.record({ kind: fc.constant('fail' as const), at: fc.nat(5) }),
  // The world changes: what was good is not, or the other way round.
  fc.record({ kind: fc.constant('change' as const) }),
)

/** Takes the steps; checks that no caller gets an answer that is too old, forgotten or another's. */
async function follow(steps: readonly Step[], options: Partial<RememberedOptions<Asked>>) {
  const { world, memory, questions, open, get, end } = create(options)
  const forgottenAt = new Map<number, number>()
  /** The numbers of questions that were answered with an error, or with what is not kept. */
  const unkept = new Set<number>()
  const check = (asked: Asked, of: { key: number; atMs: number; before: number; from: number }) => {
    assert.equal(asked.key, of.key)
    assert.ok(asked.atMs > of.atMs - AGE_MS_MAX, 'not too old for who came then')
    assert.ok(asked.number >= of.from, 'not from before it was forgotten')
    if (options.isKept?.(asked) === false) {
      assert.ok(asked.number >= of.before, 'not a refusal of the past')
    }
  }
  const waiting: Promise<void>[] = []
  for (const one of steps) {
    if (one.kind === 'pass') world.nowMs += one.ms
    if (one.kind === 'change') world.isGood = !world.isGood
    if (one.kind === 'answer' || one.kind === 'fail') {
      const asked = open[one.at]?.asked
      if (asked && (one.kind === 'fail' || options.isKept?.(asked) === false)) {
        unkept.add(asked.number)
      }
      await end(one.kind, one.at)
    }
    if (one.kind === 'forget') {
      memory.forget(one.key)
      forgottenAt.set(one.key, questions.length)
    }
    if (one.kind === 'look' || one.kind === 'get') {
      const of = {
        key: one.key,
        atMs: world.nowMs,
        before: questions.length,
        from: forgottenAt.get(one.key) ?? 0,
      }
      const known = memory.look(one.key)
      if (known !== undefined) {
        check(known, of)
        assert.equal(unkept.has(known.number), false, 'a failure or a refusal is not remembered')
      }
      if (one.kind === 'look') continue
      const young = open.some(
        ({ asked }) =>
          asked.key === of.key && asked.number >= of.from && asked.atMs > of.atMs - AGE_MS_MAX,
      )
      const answer = get(one.key).then(
        (asked) => check(asked, of),
        (error) => assert.match(String(error), /away/),
      )
      waiting.push(answer)
      const hasAsked = questions.length > of.before
      if (known !== undefined) assert.equal(hasAsked, false, 'what is known is not asked for')
      else if (options.keysMax === undefined) {
        assert.equal(hasAsked, !young, 'one question at a time, and one if there is none')
      }
    }
    assert.ok(memory.size <= (options.keysMax ?? 1_000))
  }
  while (open.length > 0) await end('answer')
  await Promise.all(waiting)
}

const steps = fc.array(step, { minLength: 30, maxLength: 80 })

test('no caller gets an answer that is too old or forgotten, and none asks twice', async () => {
  await fc.assert(fc.asyncProperty(steps, (run) => follow(run, {})))
})

test('the same where refusals are not kept: no caller gets one of the past', async () => {
  const isKept = ({ isGood }: Asked) => isGood
  await fc.assert(fc.asyncProperty(steps, (run) => follow(run, { isKept })))
})

test('the same in a memory that is too small: it only asks more often', async () => {
  const isKept = ({ isGood }: Asked) => isGood
  await fc.assert(fc.asyncProperty(steps, (run) => follow(run, { isKept, keysMax: 2 })))
})

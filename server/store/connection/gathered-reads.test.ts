import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { GatheredReads } from './gathered-reads.ts'

const ONE_AT_A_TIME = { perReadMax: 100, readsMax: 1, soon: setImmediate }

test('questions of one turn share a read; those that come meanwhile wait for the next', async () => {
  const reads: (readonly number[])[] = []
  const letGo: (() => void)[] = []
  const gathered = new GatheredReads<number, string>({
    ...{ keyOf: String, perReadMax: 3, readsMax: 1, soon: setImmediate },
    read: async (questions) => {
      reads.push(questions)
      await new Promise<void>((resolve) => letGo.push(resolve))
      return questions.map((question) => `answer ${question}`)
    },
  })
  const first = Promise.all([1, 2].map((question) => gathered.ask(question)))
  await nextTick()
  const later = Promise.all([3, 4, 5, 6].map((question) => gathered.ask(question)))
  await nextTick()
  assert.deepEqual(reads, [[1, 2]])
  letGo.shift()?.()
  assert.deepEqual(await first, ['answer 1', 'answer 2'])
  await nextTick()
  letGo.shift()?.()
  await nextTick()
  letGo.shift()?.()
  assert.deepEqual(await later, ['answer 3', 'answer 4', 'answer 5', 'answer 6'])
  assert.deepEqual(reads, [[1, 2], [3, 4, 5], [6]])
})

test('a read that fails fails its own questions, and the next is asked anew', async () => {
  let isAway = true
  const gathered = new GatheredReads<number, number>({
    ...ONE_AT_A_TIME,
    keyOf: String,
    read: async (questions) => {
      if (isAway) throw new Error('away')
      return questions
    },
  })
  await assert.rejects(gathered.ask(1), /away/)
  isAway = false
  assert.equal(await gathered.ask(2), 2)
})

test('who asks the same before the read begins shares its answer; who asks later gets a newer one', async () => {
  let state = 'old'
  const reads: (readonly string[])[] = []
  const gathered = new GatheredReads<string, string>({
    ...ONE_AT_A_TIME,
    keyOf: (question) => question,
    read: async (questions) => {
      reads.push(questions)
      const seen = questions.map((question) => `${question} ${state}`)
      await nextTick()
      return seen
    },
  })
  const early = Promise.all(['a', 'b', 'a'].map((question) => gathered.ask(question)))
  await nextTick()
  // Its read is under way: what has happened since then must be seen by whoever asks now.
  state = 'new'
  const late = gathered.ask('a')
  assert.deepEqual(await early, ['a old', 'b old', 'a old'])
  assert.equal(await late, 'a new')
  assert.deepEqual(reads, [['a', 'b'], ['a']])
})

test('what arrives before a read begins travels together', async () => {
  const reads: (readonly number[])[] = []
  const gathered = new GatheredReads<number, number>({
    ...ONE_AT_A_TIME,
    keyOf: String,
    read: async (questions) => {
      reads.push(questions)
      return questions
    },
  })
  const first = gathered.ask(1)
  await Promise.resolve()
  await Promise.resolve()
  await Promise.all([first, gathered.ask(2)])
  assert.deepEqual(reads, [[1, 2]])
})

test('a read has so many questions at most, and so many reads run at once', async () => {
  const reads: { questions: readonly number[]; end(): void }[] = []
  const gathered = new GatheredReads<number, number>({
    ...{ keyOf: String, perReadMax: 2, readsMax: 2, soon: queueMicrotask },
    read: (questions) =>
      new Promise((resolve) => reads.push({ questions, end: () => resolve(questions) })),
  })
  const asked = Promise.all([1, 2, 3, 4, 5].map((question) => gathered.ask(question)))
  await nextTick()
  const begun = () => reads.map(({ questions }) => questions)
  assert.deepEqual(begun(), [
    [1, 2],
    [3, 4],
  ])
  reads[0]?.end()
  await nextTick()
  assert.deepEqual(begun()[2], [5])
  for (const { end } of reads) end()
  assert.deepEqual(await asked, [1, 2, 3, 4, 5])
})

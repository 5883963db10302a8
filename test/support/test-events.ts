// A reporter of Node's test runner: it hands what matters of each test to the process that started the
// runner (test/run.ts), which has several runners and one terminal.

import { relative } from 'node:path'
import { Transform } from 'node:stream'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { cpuSeconds } from './cpu-time.ts'

export type TestNews =
  | { kind: 'passed' }
  | { kind: 'skipped'; name: string; reason: string }
  | { kind: 'failed'; name: string; where: string; error: string }
  /** All its tests have ended, and what they said has been reported. */
  | { kind: 'file'; processBytes: number; cpuSeconds: number }

/** test/worker.ts has one test around all files, and in it one around each file. */
const NESTING_OF_FILES = 1

export default new Transform({
  writableObjectMode: true,
  transform(event: TestEvent, _encoding, done) {
    for (const news of toNews(event)) process.send?.(news)
    done()
  },
})

function toNews(event: TestEvent): TestNews[] {
  if (event.type === 'test:diagnostic') return lateNews(event.data)
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return []
  const { nesting } = event.data
  const news = event.type === 'test:pass' ? passNews(event.data) : failNews(event.data)
  if (nesting > NESTING_OF_FILES) return news
  const failures = news.filter(({ kind }) => kind === 'failed')
  if (nesting < NESTING_OF_FILES) return failures
  return [
    ...failures,
    { kind: 'file', processBytes: process.memoryUsage.rss(), cpuSeconds: cpuSeconds() },
  ]
}

type Pass = Extract<TestEvent, { type: 'test:pass' }>['data']
type Fail = Extract<TestEvent, { type: 'test:fail' }>['data']
type Diagnostic = Extract<TestEvent, { type: 'test:diagnostic' }>['data']

function passNews({ details, name, skip, file, line }: Pass): TestNews[] {
  if (typeof skip === 'string' && skip !== '') return [{ kind: 'skipped', name, reason: skip }]
  if (skip) {
    const where = whereOf(file, line)
    return [{ kind: 'failed', name, where, error: 'a test that is skipped has to say why' }]
  }
  return details.type === 'suite' ? [] : [{ kind: 'passed' }]
}

/** What a test that has ended does later, such as reject a promise that nobody waits for. */
function lateNews({ level, message, file, line }: Diagnostic): TestNews[] {
  if (level !== 'error') return []
  const where = whereOf(file, line)
  return [{ kind: 'failed', name: 'after the end of a test', where, error: message }]
}

function failNews({ details: { error }, name, file, line }: Fail): TestNews[] {
  // A suite fails with its tests, which are reported themselves.
  if ('failureType' in error && error.failureType === 'subtestsFailed') return []
  const where = whereOf(file, line)
  return [{ kind: 'failed', name, where, error: readable(error.cause ?? error) }]
}

function whereOf(file: string | undefined, line: number | undefined): string {
  return file === undefined ? '' : `${relative('.', file)}:${line ?? 1}`
}

/** Without the frames of Node itself, which fill the screen and say nothing. */
function readable(error: unknown): string {
  return inspect(error).replaceAll(/^\s+at .*node:internal.*\n/gm, '')
}

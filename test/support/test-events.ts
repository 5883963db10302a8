// A reporter of Node's test runner: it hands what matters of each test to the process that started the
// runner (test/run.ts), which has several runners and one terminal.

import { relative } from 'node:path'
import { Transform } from 'node:stream'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export type TestNews =
  | { kind: 'passed' }
  | { kind: 'skipped'; name: string; reason: string }
  | { kind: 'failed'; name: string; where: string; error: string }
  | { kind: 'printed'; file: string; text: string }

export default new Transform({
  writableObjectMode: true,
  transform(event: TestEvent, _encoding, done) {
    const news = toNews(event)
    if (news) process.send?.(news)
    done()
  },
})

function toNews(event: TestEvent): TestNews | null {
  switch (event.type) {
    case 'test:pass': {
      const { details, name, skip } = event.data
      if (skip !== undefined && skip !== false) return { kind: 'skipped', name, reason: `${skip}` }
      return details.type === 'suite' ? null : { kind: 'passed' }
    }
    case 'test:fail': {
      const { details, name, file, line } = event.data
      const { error } = details
      // A suite fails with its tests, which are reported themselves.
      if ('failureType' in error && error.failureType === 'subtestsFailed') return null
      const where = file === undefined ? '' : `${relative('.', file)}:${line ?? 1}`
      return { kind: 'failed', name, where, error: inspect(error.cause ?? error) }
    }
    case 'test:stdout':
    case 'test:stderr':
      return { kind: 'printed', file: relative('.', event.data.file), text: event.data.message }
    default:
      return null
  }
}

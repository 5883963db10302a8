import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../core/plain/errors.ts'
import { describeError } from './describe-error.ts'

test('what lies beneath an error is said, once', () => {
  const refused = new Error('refused.')
  const error = new AggregateError(
    [new Error('one failed.', { cause: refused }), new Error('one failed.', { cause: refused })],
    'none can be reached.',
  )
  assert.equal(describeError(error), 'none can be reached. one failed. refused.')
  assert.equal(describeError(new ServiceError('not-ready', 'Not yet.')), 'not-ready: Not yet.')
  assert.equal(describeError('text'), 'text')
})

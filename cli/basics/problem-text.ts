// A refusal as a person reads it: one block with the sentence, the fields that are wrong, and what to
// quote when asking for help. Never a stack.

import type { PaybellError } from '../../sdk/src/plain/errors.ts'
import { RefusedError } from './api.ts'
import { type Paint, safe } from './terminal.ts'

export function problemText(error: PaybellError, paint: Paint): string {
  const { problem, status, requestId, retryAfterSeconds } = error
  const title = problem?.title ?? 'The service refused'
  const lines = [
    `${paint.red('paybell:')} ${safe(title)} (${status}${problem ? ` ${safe(problem.code)}` : ''})`,
  ]
  if (problem?.detail) lines.push(`  ${safe(problem.detail)}`)
  for (const field of problem?.errors ?? []) {
    lines.push(`  ${safe(field.pointer || '/')}: ${safe(field.detail ?? field.code ?? '')}`)
  }
  if (retryAfterSeconds !== undefined) lines.push(`  Try again in ${retryAfterSeconds} s.`)
  if (error instanceof RefusedError) lines.push(`  ${error.hint}`)
  if (requestId) lines.push(paint.dim(`  request ${safe(requestId)}`))
  return lines.join('\n')
}

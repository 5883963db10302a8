// A refusal as a person reads it: one block with the sentence, the fields that are wrong, and what to
// quote when asking for help. Never a stack.

import type { ApiError } from './api.ts'
import { type Paint, safe } from './terminal.ts'

export function problemText(error: ApiError, paint: Paint): string {
  const { problem, status, requestId, hint } = error
  const title = problem.title ?? 'The service refused'
  const lines = [
    `${paint.red('paybell:')} ${safe(title)} (${status}${problem.code ? ` ${safe(problem.code)}` : ''})`,
  ]
  if (problem.detail) lines.push(`  ${safe(problem.detail)}`)
  for (const field of problem.errors ?? []) {
    lines.push(`  ${safe(field.pointer || '/')}: ${safe(field.detail ?? field.code ?? '')}`)
  }
  if (error.retryAfterSeconds !== null) {
    lines.push(`  Try again in ${error.retryAfterSeconds} s.`)
  }
  if (hint) lines.push(`  ${hint}`)
  if (requestId) lines.push(paint.dim(`  request ${safe(requestId)}`))
  return lines.join('\n')
}

// `since` and `until` of a body that asks for many deliveries or events at once: from the first on, and before the
// second.

import { Type } from './type.ts'
import { invalidFields } from './validation.ts'

/** `what` begins the sentence: deliveries, or events. */
export function sinceUntilFields(what: string) {
  return {
    since: Type.String({
      format: 'date-time',
      description: `${what} that were made from this moment on.`,
    }),
    until: Type.Optional(
      Type.String({ format: 'date-time', description: 'And before this one; now by default.' }),
    ),
  }
}

export function readSinceUntil(body: { since: string; until?: string }): {
  sinceMs: number
  untilMs: number | null
} {
  const sinceMs = Date.parse(body.since)
  const untilMs = body.until === undefined ? null : Date.parse(body.until)
  if (untilMs !== null && untilMs <= sinceMs) {
    throw invalidFields([
      { pointer: '/until', code: 'not-after-since', detail: 'Must lie after since.' },
    ])
  }
  return { sinceMs, untilMs }
}

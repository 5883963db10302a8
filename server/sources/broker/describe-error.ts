// An error as a sentence for the log: what lies beneath it says more than what is on top.

import { ServiceError } from '../../core/plain/errors.ts'

export function describeError(error: unknown): string {
  if (error instanceof ServiceError) return `${error.code}: ${error.message}`
  if (!(error instanceof Error)) return String(error)
  const beneath = error instanceof AggregateError ? error.errors : [error.cause]
  const texts = beneath.filter((one) => one instanceof Error).map(describeError)
  return [error.message, ...new Set(texts)].join(' ')
}

/** What PostgreSQL says of a permission or a table (class 42) names what is ours; of data it may repeat a value. */
export function describeFault(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return describeError(error)
  return code.startsWith('42') ? `${code} ${describeError(error)}` : code
}

// What one check of `paybell doctor` has found.

export interface Check {
  name: string
  status: 'ok' | 'warning' | 'failed' | 'skipped'
  detail: string
  /** What to do about it. */
  remedy?: string
}

// A database that answers and takes no writes: a standby, or one that is set to read-only, as managed
// services do when the disk is full. To Paybell that is a database that is away.

/** What PostgreSQL itself says of a write there (appendix A of its manual). */
const READ_ONLY = '25006'

/** True where the answer is a row with `read_only`. */
export const IS_READ_ONLY = `select pg_is_in_recovery()
  or current_setting('transaction_read_only')::boolean as read_only`

export function readOnlyError(host?: string): Error {
  const where = host === undefined ? 'the database' : `the database at ${host}`
  return Object.assign(
    new Error(`${where} takes no writes: it is a standby, or set to read-only`),
    { code: READ_ONLY },
  )
}

export function isReadOnlyError(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === READ_ONLY
}

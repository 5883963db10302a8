// A database that cannot be used, in one sentence that names DATABASE_URL and says what to do.

import { isDatabaseAway } from '../../server/store/connection/db.ts'
import { reasonOf } from './reason.ts'

/** Its message is the whole story, what to do included. */
export class DatabaseFailure extends Error {}

/** Runs what needs the database of DATABASE_URL; other errors pass as they are. */
export async function namingDatabase<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw describeDatabaseFailure(error)
  }
}

function describeDatabaseFailure(error: unknown): unknown {
  if (error instanceof DatabaseFailure) return error
  const remedy = remedyOf(error)
  if (remedy === null) return error
  const what = 'the database of DATABASE_URL cannot be used'
  return new DatabaseFailure(`${what}: ${reasonOf(error)}. ${remedy}`, { cause: error })
}

/** PostgreSQL's own codes, and those of Node's sockets. */
const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Start PostgreSQL, or correct host and port in DATABASE_URL.',
  ENOTFOUND: 'Correct the host in DATABASE_URL.',
  EAI_AGAIN: 'Correct the host in DATABASE_URL, or check the DNS of this machine.',
  '28P01': 'Correct user and password in DATABASE_URL.',
  '28000': 'Correct the user in DATABASE_URL, or let pg_hba.conf accept it.',
  '3D000': 'Create that database, or correct its name in DATABASE_URL.',
}

export function remedyOf(error: unknown): string | null {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const first = error instanceof AggregateError ? error.errors[0] : null
  const remedy = typeof code === 'string' ? REMEDIES[code] : undefined
  if (remedy !== undefined) return remedy
  if (typeof message === 'string' && /does not support SSL/.test(message)) {
    return 'Take sslmode out of DATABASE_URL, or turn TLS on in PostgreSQL.'
  }
  if (first !== null && first !== undefined) return remedyOf(first)
  return isDatabaseAway(error)
    ? 'Check that PostgreSQL runs and that DATABASE_URL leads to it; paybell doctor says more.'
    : null
}

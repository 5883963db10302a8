// Does this PostgreSQL keep what it has acknowledged? Asked of the embedded server and of every
// DATABASE_URL at start: a 2xx must mean that a power cut loses nothing.

interface Queryable {
  query(text: string): Promise<{ rows: Record<string, unknown>[] }>
}

const SETTINGS = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

/** One sentence per setting that is off; empty when commits are durable. */
export async function findDurabilityFaults(client: Queryable): Promise<string[]> {
  const { rows } = await client.query(
    `select ${SETTINGS.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`,
  )
  // `synchronous_commit` has grades (local, remote_write, …); each of them but off flushes here.
  return SETTINGS.filter((name) => rows[0]?.[name] === 'off').map(
    (name) => `${name} is off: PostgreSQL may lose what it has acknowledged`,
  )
}

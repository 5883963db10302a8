// Why something failed, as a sentence for people.

/** The messages of the driver name hosts and users, never the password. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message || error.name : String(error)
}

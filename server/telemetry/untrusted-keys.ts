// Says aloud that keys were found in the database that are not the service's own: someone with write access has put
// them there or altered them, or an upgrade has left a retired one that nothing proves. In the log when it is found,
// and as a gauge for as long as it is so.

import type { KeyTable } from '../store/secrets/signing-keys.ts'

interface Log {
  error(details: object, message: string): void
  info(details: object, message: string): void
}

const KIDS_SHOWN_MAX = 20

export function reportUntrustedKeys(log: Log) {
  return (table: KeyTable, kids: readonly string[]): void => {
    if (kids.length === 0) log.info({ table }, 'keys.trusted-again')
    else
      log.error(
        { table, count: kids.length, kids: kids.slice(0, KIDS_SHOWN_MAX) },
        'keys.not-trusted',
      )
  }
}

interface Counted {
  countUntrusted(): Promise<number>
}

export type KeySets = Readonly<Record<'signing' | 'webhook', Counted>>

const ANSWER_MS_MAX = 2_000

/** Null for keys that could not be read in time. */
export async function countUntrustedKeys(
  sets: KeySets,
): Promise<ReadonlyMap<string, number | null>> {
  const counted = Object.entries(sets).map(async ([name, keys]) => {
    const late = AbortSignal.timeout(ANSWER_MS_MAX)
    const gone = new Promise<null>((resolve) => {
      late.addEventListener('abort', () => resolve(null), { once: true })
    })
    const count = await Promise.race([keys.countUntrusted().catch(() => null), gone])
    return [name, count] as const
  })
  return new Map(await Promise.all(counted))
}

// Values that go through a browser and come back: sealed, each for one purpose, so that nobody can read, change or make one,
// or use it for another purpose.

import type { Deps } from '../shared/deps.ts'

type Sealing = Pick<Deps, 'sealer'>['sealer']

export interface SealedFor {
  column: string
  row: string
}

export function sealJson(sealer: Sealing, value: object, field: SealedFor): string {
  return sealer.seal(Buffer.from(JSON.stringify(value)), field).toString('base64url')
}

/** Null for what was not sealed here for this, or under a master key that has gone. */
export function openJson<Value>(sealer: Sealing, text: string, field: SealedFor): Value | null {
  const opened = openText(sealer, Buffer.from(text, 'base64url'), field)
  return opened === null ? null : JSON.parse(opened)
}

export function openText(sealer: Sealing, sealed: Buffer, field: SealedFor): string | null {
  try {
    return sealer.open(sealed, field).toString()
  } catch {
    return null
  }
}

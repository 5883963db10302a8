// The public keys of the service, as it publishes them or as someone saved them, for what checks its signatures.

import { readFile } from 'node:fs/promises'
import type { KeySet } from '../../sdk/src/proving/signed.ts'
import { UsageError } from '../basics/run.ts'

export const KEYS_PATH = '/.well-known/webhook-keys.json'

/** Those of a file, and no others. */
export async function readKeySet(file: string): Promise<KeySet> {
  let value: unknown
  try {
    value = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON: ${(error as Error).message}`)
  }
  return toKeySet(value, file)
}

export function toKeySet(value: unknown, where: string): KeySet {
  const { keys, retired = [], revoked = [] } = (value ?? {}) as Partial<KeySet>
  const lists = [keys, retired, revoked]
  if (keys !== undefined && lists.every(Array.isArray)) return { keys, retired, revoked }
  throw new UsageError(`${where} has no public keys. Save those of ${KEYS_PATH}.`)
}

// What keeps us from sending and says nothing about the receiver: no file descriptor, no memory, no local
// port. Not a byte has left then: it was no attempt, counts against no endpoint, and is tried again soon.

import { closeSync, openSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { devNull } from 'node:os'
import { ServiceError } from '../../core/plain/errors.ts'

const RETRY_AFTER_SECONDS = 5
const OUR_CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])

export class OwnFailure extends ServiceError {
  constructor(cause: unknown) {
    const { code } = (cause ?? {}) as { code?: unknown }
    super('overloaded', `The service has no socket to spare (${code}). Try again in a while.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause,
    })
    this.name = 'OwnFailure'
  }
}

/** For a name with several addresses, every one must have failed like this. */
export function isOwnFailure(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isOwnFailure)
  const { code, address } = (error ?? {}) as { code?: unknown; address?: unknown }
  if (OUR_CODES.has(code)) return true
  // All local ports towards this address are in use. Of IPv6 it may mean that this machine has none of
  // that: no reason to try for ever.
  return code === 'EADDRNOTAVAIL' && isIPv4(String(address))
}

/**
 * The same for a name that could not be looked up. When c-ares has no socket for its question, it says that the
 * name server has refused: so a socket is asked for here.
 */
export function isOwnLookupFailure(error: unknown): boolean {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  const isUnasked = errors.every((one) => (one as { code?: unknown })?.code === 'ECONNREFUSED')
  return isUnasked && !hasDescriptor()
}

function hasDescriptor(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return true
  } catch (error) {
    return !isOwnFailure(error)
  }
}

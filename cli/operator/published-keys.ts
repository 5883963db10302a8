// `paybell signing-keys list` and `paybell webhook-keys list`: the ids of the service's own keys, as it publishes them for
// anyone. A person who has to revoke one finds its id here.

import type { Command } from 'commander'
import { type Call, callCommand, calling } from '../basics/command.ts'
import { formatTime } from '../basics/terminal.ts'

export const PUBLISHED = {
  'signing-keys': '/.well-known/jwks.json',
  'webhook-keys': '/.well-known/webhook-keys.json',
}

interface Published {
  keys: readonly { kid: string }[]
  retired?: readonly { kid: string; retiredAt: string }[]
  revoked?: readonly { kid: string; revokedAt: string }[]
}

interface ListedKey {
  kid: string
  state: string
  since: string | null
}

/** `inUse`: what its published keys do. */
export function listKeysCommand(keys: keyof typeof PUBLISHED, inUse: string): Command {
  return callCommand('list', 'List the ids of these keys, the newest first.', [
    `paybell ${keys} list`,
  ]).action(
    calling(async (call: Call) => {
      const answer = await (await call.target.anyone()).get(PUBLISHED[keys])
      call.answer<Published>(answer, (published) => {
        call.table<ListedKey>(
          [
            { title: 'KEY', of: ({ kid }) => kid },
            { title: 'STATUS', of: ({ state }) => state },
            { title: 'SINCE', of: ({ since }) => formatTime(since) },
          ],
          toList(published, inUse),
          'The service publishes no keys.',
        )
      })
    }),
  )
}

function toList({ keys, retired = [], revoked = [] }: Published, inUse: string): ListedKey[] {
  return [
    ...keys.map(({ kid }) => ({ kid, state: inUse, since: null })),
    ...retired.map(({ kid, retiredAt }) => ({ kid, state: 'retired', since: retiredAt })),
    ...revoked.map(({ kid, revokedAt }) => ({ kid, state: 'revoked', since: revokedAt })),
  ]
}

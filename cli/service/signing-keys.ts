// `paybell signing-keys rotate` and `paybell webhook-keys rotate`: a new key signs access tokens, or callbacks and
// statements, from now on. It also happens by itself, every 30 and every 90 days; by hand, when a key may have
// leaked or after the master key was changed. `paybell webhook-keys adopt`: a key that nothing proves is trusted.

import { TOKEN_KEYS } from '../../server/operations/access/key-purposes.ts'
import { type KeyringDeps, rotateSigningKey } from '../../server/operations/access/keyring.ts'
import { adoptWebhookKey, rotateWebhookKey } from '../../server/operations/access/webhook-keys.ts'
import { UsageError } from '../basics/run.ts'
import { keyringDepsOf } from './keyring-deps.ts'
import { onServiceDatabase } from './service-database.ts'

interface Options {
  json?: boolean
}

export async function rotateSigningKeys(options: Options): Promise<void> {
  await rotate(
    'paybell signing-keys',
    (deps) => rotateSigningKey(deps, TOKEN_KEYS),
    'Tokens signed before stay good until they expire.',
    options,
  )
}

export async function rotateWebhookKeys(options: Options): Promise<void> {
  await rotate(
    'paybell webhook-keys',
    rotateWebhookKey,
    'The key before it signs beside it, and is published, for 7 days.',
    options,
  )
}

/** For a retired key of 0.2, which nothing proves: the operator vouches for it, with the master key at hand. */
export async function adoptWebhookKeyCommand(whpk: string, options: Options): Promise<void> {
  await onServiceDatabase('paybell webhook-keys', async ({ pool, sealer }) => {
    const kid = await adoptWebhookKey({ pool, sealer }, whpk)
    if (kid === null) {
      throw new UsageError(
        'the database has no retired webhook key of this kind that is still to be adopted.',
      )
    }
    console.log(
      options.json
        ? JSON.stringify({ kid })
        : `Key ${kid} is trusted from now on, in every process within 5 seconds.`,
    )
  })
}

async function rotate(
  name: string,
  makeKey: (deps: KeyringDeps) => Promise<string>,
  remark: string,
  options: Options,
): Promise<void> {
  await onServiceDatabase(name, async (database) => {
    const kid = await makeKey(await keyringDepsOf(database))
    console.log(
      options.json
        ? JSON.stringify({ kid })
        : `Key ${kid} signs from now on, in every process within 5 seconds. ${remark}`,
    )
  })
}

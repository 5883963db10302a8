// `paybell signing-keys revoke` and `paybell webhook-keys revoke`: ends a key that may have leaked, in every process that
// runs. They call the service, so the audit says who did it.

import type { Command } from 'commander'
import type { RevokedKey } from '../../sdk/src/internal/operator-types.ts'
import { type Call, calling, operatorCommand } from '../basics/command.ts'
import { id } from '../basics/parse.ts'
import type { PUBLISHED } from './published-keys.ts'

const KEY = '01a1dd3c-57d6-7001-9e6f-60de241483ec'

export function revokeCommand(family: keyof typeof PUBLISHED, loss: string): Command {
  return operatorCommand('revoke', `Revoke a key that may have leaked. ${loss}`, [
    `paybell ${family} revoke ${KEY}`,
    `paybell ${family} revoke ${KEY} --yes --json`,
  ])
    .argument('<kid>', `id of the key: paybell ${family} list shows them`, id)
    .option('--yes', 'do not ask for confirmation')
    .action(
      calling(async (call: Call<{ yes?: boolean }>, kid: string) => {
        const api = await call.operator()
        const question = `Revoke the key ${kid}? This cannot be undone. ${loss}`
        await call.confirm(question, true)
        const answer = await api.post(`/operator/v1/${family}/${kid}/revoke`)
        call.answer<RevokedKey>(answer, ({ newKid }) => {
          call.print(`The key ${kid} is revoked, in every process within 5 seconds.`)
          if (newKid !== null) call.print(`Key ${newKid} signs from now on.`)
        })
      }),
    )
}

// `paybell reseal`: the step of a rotation of the master key after which the old one is no longer needed.

import { type Resealing, resealSecrets } from '../operations/reseal-secrets.ts'
import { onServiceDatabase } from './service-database.ts'

export async function reseal(options: { json?: boolean }): Promise<void> {
  await onServiceDatabase('paybell reseal', async ({ pool, sealer }) => {
    const isShown = process.stderr.isTTY === true && !options.json
    const done = await resealSecrets({ pool, sealer }, (count) => {
      if (isShown) process.stderr.write(`\r${count} endpoints sealed anew`)
    })
    if (isShown) process.stderr.write('\n')
    console.log(options.json ? JSON.stringify(done) : describe(done))
    if (done.unreadable > 0) process.exitCode = 1
  })
}

function describe(done: Resealing): string {
  const lines = [
    `Sealed anew under the first master key: ${done.endpoints} endpoints, ${done.signingKeys} signing keys.`,
  ]
  if (done.unreadable > 0) {
    lines.push(
      `${done.unreadable} could not be opened: configure the master key that they were sealed under, or let their owners register them again.`,
    )
  }
  if (done.clientSecrets + done.operatorKeys > 0) {
    lines.push(
      `Still under an older key: ${done.clientSecrets} client secrets and ${done.operatorKeys} operator keys. They move over when they are next used; replace those that are not.`,
    )
  }
  if (done.unreadable + done.clientSecrets + done.operatorKeys === 0) {
    lines.push('Nothing needs an older master key any more: take it out of PAYBELL_MASTER_KEY.')
  }
  return lines.join('\n')
}

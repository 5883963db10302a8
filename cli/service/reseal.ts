// `paybell reseal`: the step of a rotation of the master key after which the old one is no longer needed. It
// also moves what the first release kept under the master key itself to keys that are derived from it, once no
// process of another version is alive.

import { LEASE_POLICY } from '../../server/core/delivery/lease.ts'
import { type Resealing, resealSecrets } from '../../server/operations/access/reseal-secrets.ts'
import { beginDerivedKeys, readSealingForm } from '../../server/store/secrets/sealing-form.ts'
import { VERSION } from '../../server/version.ts'
import { onServiceDatabase } from './service-database.ts'

export async function reseal(options: { json?: boolean }): Promise<void> {
  await onServiceDatabase('paybell reseal', async ({ pool, sealer }) => {
    const others = await beginDerivedKeys(pool, VERSION, LEASE_POLICY.processGoneAfterMs)
    const { isDerived } = await readSealingForm(pool)
    if (isDerived) sealer.writeDerived()
    const isShown = process.stderr.isTTY === true && !options.json
    const done = await resealSecrets({ pool, sealer }, (count) => {
      if (isShown) process.stderr.write(`\r${count} endpoints re-encrypted`)
    })
    if (isShown) process.stderr.write('\n')
    if (options.json) console.log(JSON.stringify({ ...done, isDerived }))
    else console.log([...describe(done), ...describeForm(isDerived, others)].join('\n'))
    if (done.unreadable > 0) process.exitCode = 1
  })
}

function describeForm(isDerived: boolean, others: readonly string[]): string[] {
  if (isDerived) return []
  return [
    `Keys are not derived from the master key yet, because processes of version ${others.join(', ')} are alive, which could not read what is written then. Run this again when all run ${VERSION}.`,
  ]
}

function describe(done: Resealing): string[] {
  const lines = [
    `Re-encrypted under the first master key: ${done.endpoints} endpoints, ${done.signingKeys} signing keys, ${done.clientCertificates} certificates.`,
  ]
  if (done.unreadable > 0) {
    lines.push(
      `${done.unreadable} could not be opened: configure the master key that they were sealed under, or let their owners register them again.`,
    )
  }
  if (done.untrustedKeys > 0) {
    lines.push(
      `${done.untrustedKeys} keys are not authenticated and not trusted: "paybell doctor" names them.`,
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
  return lines
}

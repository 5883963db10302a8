// `paybell reseal`: the step of a rotation of the master key after which the old one is no longer needed. It
// also moves what the first release kept under the master key itself to keys that are derived from it, and binds what is
// sealed for endpoints to their addresses, once no process of another version is alive.

import { LEASE_POLICY } from '../../server/core/delivery/lease.ts'
import type { Binding } from '../../server/core/proofs/sealing-mark.ts'
import {
  finishBinding,
  learnSealing,
  startBinding,
} from '../../server/operations/sealing/bind-addresses.ts'
import { type Resealing, resealSecrets } from '../../server/operations/sealing/reseal-secrets.ts'
import { beginDerivedKeys, readSealingForm } from '../../server/store/secrets/sealing-form.ts'
import { VERSION } from '../../server/version.ts'
import { onServiceDatabase } from './service-database.ts'

export async function reseal(options: { json?: boolean }): Promise<void> {
  await onServiceDatabase('paybell reseal', async ({ pool, sealer }) => {
    const { isWrong } = await learnSealing({ pool, sealer })
    const others = [
      ...(await beginDerivedKeys(pool, VERSION, LEASE_POLICY.processGoneAfterMs)),
      ...(sealer.binding === 'none' ? await startBinding({ pool, sealer }, VERSION) : []),
    ]
    await learnSealing({ pool, sealer })
    const { isDerived } = await readSealingForm(pool)
    const isShown = process.stderr.isTTY === true && !options.json
    const done = await resealSecrets({ pool, sealer }, (count) => {
      if (isShown) process.stderr.write(`\r${count} endpoints re-encrypted`)
    })
    if (isShown) process.stderr.write('\n')
    await finishBinding({ pool, sealer })
    const { binding } = sealer
    if (options.json) console.log(JSON.stringify({ ...done, isDerived, binding }))
    else
      console.log(
        [...describe(done), ...describeForm({ isDerived, binding, isWrong }, others)].join('\n'),
      )
    if (done.unreadable > 0) process.exitCode = 1
  })
}

interface Form {
  isDerived: boolean
  binding: Binding
  isWrong: boolean
}

function describeForm({ isDerived, binding, isWrong }: Form, others: readonly string[]): string[] {
  const lines: string[] = []
  if (isWrong) {
    lines.push(
      'Someone who can write to the database had changed the mark that secrets are bound to addresses. It is set again: find out who it was.',
    )
  }
  if (!isDerived || binding === 'none') {
    const versions = [...new Set(others)].join(', ')
    lines.push(
      `Keys are not derived from the master key and bound to addresses yet, because processes of version ${versions} are alive, which could not read what is written then. Run this again when all run ${VERSION}.`,
    )
  }
  if (binding === 'begun') {
    lines.push(
      'Not every endpoint is bound to its address yet: "paybell doctor" names those that cannot be decrypted.',
    )
  }
  if (binding === 'done') lines.push('Every secret of an endpoint is bound to its address.')
  return lines
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

// A client that moves to another cell is shown the same certificates there, or is not moved: its receivers would refuse any
// other, and private keys do not travel between cells. Ids are each cell's own: a certificate is known again by its
// fingerprint. What the client may use here, it may use there, where the other cell has it.

import { EVERYONE, isFor } from '../../core/certificates/certificate-clients.ts'
import { DEFAULT_CERTIFICATE } from '../../core/delivery/endpoint-tls.ts'
import type { Db } from '../../store/connection/db.ts'
import {
  giveCertificates,
  readCertificateChoices,
  renameCertificates,
  takeCertificatesBack,
} from '../../store/moves/move-certificates.ts'
import {
  lockCertificates,
  readCertificates,
  type StoredCertificate,
} from '../../store/secrets/client-certificates.ts'

/** Before anything is stopped. */
export async function checkCertificates(source: Db, target: Db, clientKey: number): Promise<void> {
  assertThere(await matchCertificates(source, target, clientKey))
}

/** With the copy: `clientKey` is the client's there. Its endpoints name the other cell's ids from now on. */
export async function carryCertificates(
  from: Db,
  to: Db,
  { fromKey, clientKey }: { fromKey: number; clientKey: number },
): Promise<void> {
  await lockCertificates(to)
  const carried = await matchCertificates(from, to, fromKey)
  assertThere(carried)
  await renameCertificates(to, clientKey, carried.ids)
  await giveCertificates(to, clientKey, carried.given)
}

/** In the cell that it has left. */
export async function withdrawCertificates(from: Db, clientKey: number): Promise<void> {
  await lockCertificates(from)
  await takeCertificatesBack(from, clientKey)
}

function assertThere({ missing, otherDefault }: CarriedCertificates): void {
  if (missing.length > 0) {
    const names = missing.map(({ name }) => `"${name}"`).join(', ')
    throw new Error(
      `endpoints of this client are shown certificates that the other cell does not have (${names}): import them there with their keys, or let the endpoints name others first`,
    )
  }
  if (otherDefault !== null) {
    throw new Error(
      `endpoints of this client are shown the default certificate, which is "${otherDefault.name}" here and another one, or none, in the other cell: make it the default there, or let the endpoints name it by its id first`,
    )
  }
}

interface CarriedCertificates {
  /** By the id here, the one there. */
  ids: ReadonlyMap<string, string>
  /** By the ids there: those that its endpoints are shown, and those that it is given by name. */
  given: readonly string[]
  /** Those that the other cell does not have. */
  missing: readonly StoredCertificate[]
  /** The one that "default" means here, where it means another one there, or none. */
  otherDefault: StoredCertificate | null
}

async function matchCertificates(
  source: Db,
  target: Db,
  clientKey: number,
): Promise<CarriedCertificates> {
  const choices = await readCertificateChoices(source, clientKey)
  const ids = new Map<string, string>()
  const given: string[] = []
  const missing: StoredCertificate[] = []
  let otherDefault: StoredCertificate | null = null
  const own = (await readCertificates(source)).filter((one) => isFor(one.clients, clientKey))
  const there = own.length === 0 ? [] : await readCertificates(target)
  for (const here of own) {
    const same = there.find((one) => isSame(one, here))
    if (choices.has(here.id)) {
      if (same === undefined) missing.push(here)
      else ids.set(here.id, same.id)
    }
    const isMeant = here.isDefault && choices.has(DEFAULT_CERTIFICATE)
    if (isMeant && same?.isDefault !== true) otherDefault = here
    const isGiven = isMeant || choices.has(here.id) || here.clients !== EVERYONE
    if (isGiven && same !== undefined) given.push(same.id)
  }
  return { ids, given, missing, otherDefault }
}

function isSame(one: StoredCertificate, other: StoredCertificate): boolean {
  if (one.chain === null || other.chain === null) return false
  return one.chain.fingerprint.equals(other.chain.fingerprint)
}

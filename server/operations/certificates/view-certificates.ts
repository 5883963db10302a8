// The service's certificates as operators see them, and clients those that they are given: never a private key.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { pageOffset } from '../../core/asking/numbered-pages.ts'
import { isFor } from '../../core/certificates/certificate-clients.ts'
import {
  countCertificateUses,
  readCertificates,
  type StoredCertificate,
} from '../../store/secrets/client-certificates.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { type NamedClients, nameOwners } from './certificate-owners.ts'

export type PublicCertificate = Omit<StoredCertificate, 'sealedPrivateKey' | 'clients'>

export interface ViewedCertificate extends PublicCertificate {
  /** Who may use it, by their ids. */
  clients: NamedClients
  /** Endpoints that are shown it. */
  usedBy: number
}

export async function viewCertificates(
  deps: Pick<Deps, 'pool'>,
  page: PageRequest,
): Promise<Page<ViewedCertificate>> {
  return toPage(await readAll(deps), page)
}

export async function viewCertificate(
  deps: Pick<Deps, 'pool'>,
  id: string,
): Promise<ViewedCertificate> {
  const found = (await readAll(deps)).find((one) => one.id === id)
  if (found === undefined) throw notFound()
  return found
}

/** Those that the client's receivers may meet, for it to choose and to pin. */
export async function viewPublicChains(
  { pool }: Pick<Deps, 'pool'>,
  clientKey: number,
  page: PageRequest,
): Promise<Page<PublicCertificate>> {
  const all = await readCertificates(pool)
  return toPage(
    all.filter(({ chain, clients }) => chain !== null && isFor(clients, clientKey)),
    page,
  )
}

async function readAll({ pool }: Pick<Deps, 'pool'>): Promise<readonly ViewedCertificate[]> {
  const [all, uses] = await Promise.all([readCertificates(pool), countCertificateUses(pool)])
  const nameOf = await nameOwners(
    pool,
    all.map(({ clients }) => clients),
  )
  return all.map(({ sealedPrivateKey: _, clients, ...shown }) => {
    return { ...shown, clients: nameOf(clients), usedBy: uses.get(shown.id) ?? 0 }
  })
}

function toPage<T>(all: readonly T[], page: PageRequest): Page<T> {
  const from = pageOffset(page)
  return { ...page, items: all.slice(from, from + page.size), total: all.length }
}

// The service's certificates as operators and clients see them: never a private key.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { pageOffset } from '../../core/asking/numbered-pages.ts'
import {
  countCertificateUses,
  readCertificates,
  type StoredCertificate,
  usesOf,
} from '../../store/secrets/client-certificates.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export interface ViewedCertificate extends Omit<StoredCertificate, 'sealedPrivateKey'> {
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

/** Those that a receiver may meet, for clients to pin. */
export async function viewPublicChains(
  deps: Pick<Deps, 'pool'>,
  page: PageRequest,
): Promise<Page<ViewedCertificate>> {
  const all = await readAll(deps)
  return toPage(
    all.filter(({ chain }) => chain !== null),
    page,
  )
}

async function readAll({ pool }: Pick<Deps, 'pool'>): Promise<readonly ViewedCertificate[]> {
  const [all, uses] = await Promise.all([readCertificates(pool), countCertificateUses(pool)])
  return all.map(({ sealedPrivateKey: _, ...shown }) => {
    return { ...shown, usedBy: usesOf(uses, shown) }
  })
}

function toPage<T>(all: readonly T[], page: PageRequest): Page<T> {
  const from = pageOffset(page)
  return { ...page, items: all.slice(from, from + page.size), total: all.length }
}

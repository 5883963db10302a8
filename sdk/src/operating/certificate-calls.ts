// The operator's calls about the certificates that receivers are shown when they ask who calls.

import { type Caller, segment } from '../calling/caller.ts'
import type { PageQuery } from '../calling/endpoint-calls.ts'
import { pageItems } from '../calling/lists.ts'
import type { CallOptions } from '../calling/transport.ts'
import type { FollowingEndpoints, ServiceCertificate } from '../wire/operator-types.ts'
import type { Page } from '../wire/types.ts'

/** Which clients may use and see a certificate, by their ids. Without it, for no one. */
interface OfClients {
  clients?: readonly string[] | 'everyone' | undefined
}

export type CertificateCalls = ReturnType<typeof certificateCalls>

const CERTIFICATES = '/operator/v1/client-certificates'

export function certificateCalls({ call, get }: Caller) {
  const path = (id: string) => `${CERTIFICATES}/${segment(id)}`
  return {
    /** The oldest first, with how many endpoints are shown each. */
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<ServiceCertificate>>(CERTIFICATES, query, details),
    all: (details?: CallOptions) => pageItems<ServiceCertificate>(get, CERTIFICATES, {}, details),
    get: (id: string, details?: CallOptions) =>
      get<ServiceCertificate>(path(id), undefined, details),
    /** Its key is made inside, and never leaves: `certificateRequestPem` is for an authority to sign. */
    request: (order: { name: string; subject: string } & OfClients, details?: CallOptions) =>
      call<ServiceCertificate>('POST', CERTIFICATES, { ...details, body: order }),
    /** One with its key, as PEM; the service's own certificate comes first, then each that signed the one before. */
    import: (
      certificate: { name: string; certificatePem: string; privateKeyPem: string } & OfClients,
      details?: CallOptions,
    ) => call<ServiceCertificate>('POST', CERTIFICATES, { ...details, body: certificate }),
    /** Which clients may use it, in place of those before; or what it is called. */
    change: (
      id: string,
      changes: OfClients & { name?: string | undefined },
      details?: CallOptions,
    ) => call<ServiceCertificate>('PATCH', path(id), { ...details, body: changes, isSafe: true }),
    /** What an authority has signed for the key that is inside; again, when it was renewed. */
    complete: (id: string, certificatePem: string, details?: CallOptions) =>
      call<ServiceCertificate>('PUT', `${path(id)}/certificate`, {
        ...details,
        body: { certificatePem },
        isSafe: true,
      }),
    /** Endpoints of its clients that ask for `default` are shown it from now on. A dry run only counts them. */
    makeDefault: (id: string, options: { dryRun?: boolean } = {}, details?: CallOptions) =>
      call<FollowingEndpoints>('POST', `${path(id)}/default`, {
        ...details,
        body: { dryRun: options.dryRun ?? false },
        isSafe: true,
      }),
    /** Endpoints that name it name the other from now on. A dry run only counts them. */
    replace: (
      id: string,
      { by, dryRun = false }: { by: string; dryRun?: boolean },
      details?: CallOptions,
    ) =>
      call<FollowingEndpoints>('POST', `${path(id)}/replace`, { ...details, body: { by, dryRun } }),
    /** With its key. One that endpoints are shown is not deleted. */
    delete: (id: string, details?: CallOptions) => call<void>('DELETE', path(id), details),
  }
}

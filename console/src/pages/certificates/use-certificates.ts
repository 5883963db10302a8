// The service's certificates: all of them for an operator, for a client those that its receivers may meet.

import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { Page, PublicCertificate, ServiceCertificate } from '../../api/types.ts'

export const PATH = '/operator/v1/client-certificates'

/** What both get, and what only the operator gets as optional members. */
export type Certificate = Omit<PublicCertificate, 'notAfter' | 'certificatePem'> &
  Pick<ServiceCertificate, 'notAfter' | 'certificatePem'> &
  Partial<Pick<ServiceCertificate, 'clients' | 'usedBy' | 'certificateRequestPem'>>

export function useCertificates() {
  const isOperator = useSession().kind === 'operator'
  return useRead<Page<Certificate>>(`${isOperator ? PATH : '/v1/client-certificates'}?size=100`, {
    keepsLast: true,
    everyMs: 30_000,
  })
}

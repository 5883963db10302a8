// Which certificate the receiver of an endpoint is shown, and whose word is taken for the receiver.

import type { ReactNode } from 'react'
import type { Endpoint } from '../../api/types.ts'
import { Copy, Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Ends } from '../certificates/ends.tsx'
import { useCertificates } from '../certificates/use-certificates.ts'
import { toAuthoritiesText } from './settings-form.ts'

/** Where it was given. */
export function tlsFacts(tls: Endpoint['tls']): (readonly [string, ReactNode])[] {
  if (tls === undefined) return []
  const { clientCertificate, certificateAuthorities } = tls
  return [
    ['Client certificate', <ShownCertificate key="certificate" choice={clientCertificate} />],
    [
      'Authorities',
      certificateAuthorities === null ? (
        'the public ones'
      ) : (
        <span key="authorities">
          {certificateAuthorities.length} given{' '}
          <Copy text={toAuthoritiesText(tls)} label="Copy authorities" isNamed />
        </span>
      ),
    ],
  ]
}

function ShownCertificate({ choice }: { choice: string | null }) {
  const { data } = useCertificates()
  if (choice === null) return 'none'
  const isDefault = choice === 'default'
  const found = data?.content.find((one) => (isDefault ? one.isDefault : one.id === choice))
  if (found === undefined) return isDefault ? 'the default' : <Id value={choice} />
  return (
    <>
      {isDefault ? 'the default, ' : ''}
      <Link to="/certificates">{found.name}</Link>, until <Ends at={found.notAfter} />
    </>
  )
}

// For receivers that ask who calls, or that a private authority vouches for: which certificate they are shown, and
// whose word is taken for them; as fields of the form.

import { useState } from 'react'
import { Area, Select } from '../../ui/forms/field.tsx'
import { nearness } from '../certificates/nearness.ts'
import { type Certificate, useCertificates } from '../certificates/use-certificates.ts'
import { type ErrorOf, MARK, type ShownSettings, toAuthoritiesText } from './settings-form.ts'

const DEFAULT = 'default'

export function TlsFields({ of: tls, errorOf }: { of: ShownSettings['tls']; errorOf: ErrorOf }) {
  const { data } = useCertificates()
  const [choice, setChoice] = useState(tls?.clientCertificate ?? '')
  return (
    <>
      <Select
        name={`${MARK}clientCertificate`}
        label="Client certificate"
        value={choice}
        onChange={(event) => setChoice(event.target.value)}
        options={toOptions(data?.content ?? [], choice)}
        hint="What the receiver is shown when it asks who calls (mutual TLS). It has to trust it first."
        error={errorOf('/tls/clientCertificate') ?? errorOf('/tls', true)}
      />
      <Area
        name={`${MARK}certificateAuthorities`}
        label="Authorities of the receiver, as PEM"
        defaultValue={toAuthoritiesText(tls)}
        placeholder="-----BEGIN CERTIFICATE-----"
        hint="Up to 10 certificates that vouch for the receiver, in place of the public ones. Empty: the public ones."
        error={errorOf('/tls/certificateAuthorities')}
      />
    </>
  )
}

/** What is chosen is always among them, before the others are read and when it is gone. */
function toOptions(all: readonly Certificate[], choice: string): readonly [string, string][] {
  const whole = all.filter(({ certificatePem }) => certificatePem !== null)
  const standard = whole.find(({ isDefault }) => isDefault)
  const options: [string, string][] = [
    ['', 'None'],
    ...(standard ? [[DEFAULT, `The default: ${toText(standard)}`] as [string, string]] : []),
    ...whole.map((one): [string, string] => [one.id, toText(one)]),
  ]
  if (options.some(([value]) => value === choice)) return options
  return [...options, [choice, choice === DEFAULT ? 'The default' : choice]]
}

function toText({ name, notAfter }: Certificate): string {
  const near = notAfter === null ? null : nearness(Date.parse(notAfter) - Date.now())
  return near ? `${name} (${near.text.toLowerCase()})` : name
}

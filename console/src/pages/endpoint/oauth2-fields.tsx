// For receivers that ask for an access token: where the service gets it, and how it proves itself there; as fields of the
// form.

import { useState } from 'react'
import { Field, Select } from '../../ui/forms/field.tsx'
import { type Proof, proofOf, type ShownOauth2, takesSecret, textOf } from './oauth2-form.ts'
import { type ErrorOf, MARK } from './settings-form.ts'

const ABOUT_TOKEN =
  'Callbacks carry a token of the receiver’s token endpoint: how the service gets it.'
const ABOUT_KEY =
  'Its token endpoint has to trust the public key at /.well-known/clients/{client id}/jwks.json, with the id of this client.'

const ABOUT_CERTIFICATE =
  'Its token endpoint knows the client certificate that is chosen above, so there is no secret.'
const HINTS: Partial<Record<Proof, string>> = { key: ABOUT_KEY, tls: ABOUT_CERTIFICATE }

export function Oauth2Fields({ of: oauth2, errorOf }: { of: ShownOauth2; errorOf: ErrorOf }) {
  const [proof, setProof] = useState<Proof>(proofOf(oauth2))
  const shown = (name: string) => ({
    name: MARK + name,
    defaultValue: textOf(oauth2, name),
    autoComplete: 'off',
    spellCheck: false,
    error: errorOf(`/oauth2/${name}`),
  })
  const hasSecret = takesSecret(proofOf(oauth2))
  return (
    <>
      <Select
        name={`${MARK}proof`}
        label="Access token (OAuth 2.0)"
        value={proof}
        onChange={(event) => setProof(event.target.value as Proof)}
        options={[
          ['', 'None'],
          ['basic', 'With a client secret, in a header'],
          ['post', 'With a client secret, in the body'],
          ['key', 'With a key for this client alone (private_key_jwt)'],
          ['tls', 'With the client certificate alone (RFC 8705)'],
        ]}
        hint={HINTS[proof] ?? ABOUT_TOKEN}
        error={
          errorOf('/oauth2', true) ??
          errorOf('/oauth2/privateKeyJwt') ??
          errorOf('/oauth2/authentication')
        }
      />
      {proof === '' ? null : (
        <>
          <Field
            label="Token URL"
            type="url"
            placeholder="https://bank.example/oauth/token"
            required
            {...shown('tokenUrl')}
          />
          <Field label="Client id" required {...shown('clientId')} />
          {takesSecret(proof) ? (
            <Field
              label="Client secret"
              type="password"
              required={!hasSecret}
              hint={
                hasSecret
                  ? 'Leave it empty to keep the one that is stored. With another URL or client id, enter it again.'
                  : 'It is encrypted and never shown again.'
              }
              {...shown('clientSecret')}
              autoComplete="new-password"
            />
          ) : null}
          <Field label="Scope (optional)" {...shown('scope')} />
          <Field label="Audience (optional)" {...shown('audience')} />
        </>
      )}
    </>
  )
}

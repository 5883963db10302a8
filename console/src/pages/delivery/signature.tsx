// How the callback was signed, and a box to find out why a receiver disagrees. A client asks the
// signature doctor, who knows its keys; for the operator, who must not, what was received is compared
// with what was sent.

import { type FormEvent, useState } from 'react'
import { api, send } from '../../api/client.ts'
import { useAction } from '../../api/hooks.ts'
import type { DeliveryDetail, Diagnosis, SentRequest, SignatureInputs } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Notice, Problem } from '../../ui/basics/messages.tsx'
import { Facts, Panel } from '../../ui/basics/page.tsx'
import { Area } from '../../ui/forms/field.tsx'
import { Time } from '../../ui/times/time.tsx'
import { findOwnPath } from '../endpoint/doors.ts'
import { compareBody, compareSignature, type Verdict } from './compare.ts'
import { readHeaders } from './headers.ts'

export function Signature({ delivery }: { delivery: DeliveryDetail }) {
  const { request, signatureInputs } = delivery
  return (
    <Panel title="Signature">
      {signatureInputs ? <Inputs of={signatureInputs} /> : <ClientInputs />}
      {signatureInputs ? (
        <CompareBox request={request} hmacName={hmacNameOf(signatureInputs)} />
      ) : (
        <DoctorBox endpointId={delivery.endpointId} endpointUrl={delivery.endpointUrl} />
      )}
    </Panel>
  )
}

/** An endpoint may have a name of its own for it. */
function hmacNameOf({ headers }: SignatureInputs): string {
  return headers.find(({ signed }) => signed === 'body')?.name ?? 'X-Paybell-Hmac'
}

function Inputs({ of }: { of: SignatureInputs }) {
  return (
    <Facts
      of={[
        ['Algorithm', `HMAC-${of.algorithm.replace('_', '-')}`],
        ...of.headers.map(
          ({ name, signed, encoding }) =>
            [
              name,
              <span key={name}>
                over <code>{signed}</code>, as {encoding}
              </span>,
            ] as const,
        ),
        ['webhook-id', <code key="id">{of.webhookId}</code>],
        [
          'webhook-timestamp',
          of.timestamp === null ? (
            'not sent'
          ) : (
            <span key="at">
              <code>{of.timestamp}</code> (<Time at={of.timestamp * 1_000} />)
            </span>
          ),
        ],
        ['Keys', of.keys === 2 ? '2: the new one and the one before the rotation' : '1'],
      ]}
    />
  )
}

function ClientInputs() {
  return (
    <Facts
      of={[
        ['Algorithm', 'HMAC-SHA-256, keyed with the UTF-8 bytes of your sharedKey'],
        ['X-Paybell-Hmac', 'over the exact body bytes, as lower-case hex'],
        ['webhook-signature', 'over webhook-id.webhook-timestamp.body, as v1,base64'],
        [
          'v1a in webhook-signature',
          'for endpoints with ed25519: over the same, verified with a key of /.well-known/webhook-keys.json',
        ],
      ]}
    />
  )
}

/** A field of ten million characters would stop the browser. */
const FILLED_BYTES_MAX = 512 * 1_024

function CompareBox({ request, hmacName }: { request: SentRequest; hmacName: string }) {
  const [verdicts, setVerdicts] = useState<readonly Verdict[]>([])
  const [filled, setFilled] = useState({ signature: '', body: '', times: 0 })
  const compare = useAction<{ signature: string; body: string }, readonly Verdict[]>(
    async ({ signature, body }) => {
      const found: Verdict[] = []
      if (signature.trim() !== '') {
        found.push(compareSignature(signature, request.headers, hmacName))
      }
      if (body !== '') {
        const answer = await send('GET', request.bodyUrl)
        found.push(compareBody(body, answer.bytes))
      }
      return found
    },
    { onDone: setVerdicts },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    // A form gives new lines as CR LF; what was pasted had LF.
    const read = (name: string) => String(form.get(name) ?? '').replaceAll('\r\n', '\n')
    compare.mutate({ signature: read('signature'), body: read('body') })
  }
  const fill = async () => {
    const hmac = request.headers.find(({ name }) => name === hmacName)
    const isSmall = (request.bodyBytes ?? 0) <= FILLED_BYTES_MAX
    const body = isSmall ? await api.text(request.bodyUrl).catch(() => '') : ''
    setFilled({ signature: hmac?.value ?? '', body, times: filled.times + 1 })
  }
  return (
    <form className="verify" onSubmit={submit} key={filled.times}>
      <h3>Verify what a receiver saw</h3>
      <p className="muted">
        {request.attempt === null
          ? 'Nothing was sent: only a body can be compared, with that of the update.'
          : `Paste what the receiver got or computed: it is compared with what attempt ${request.attempt} sent.`}{' '}
        No key is needed, and none is shown.
      </p>
      <Area
        label="Signature as received"
        name="signature"
        rows={2}
        defaultValue={filled.signature}
        hint={`${hmacName} or webhook-signature; the whole header line is fine`}
      />
      <Area label="Body as received" name="body" rows={5} defaultValue={filled.body} />
      <div className="row">
        <Button type="submit" look="primary" disabled={compare.isPending}>
          Verify
        </Button>
        {request.headers.length === 0 ? null : (
          <Button onClick={() => void fill()}>Fill in what was sent</Button>
        )}
      </div>
      {compare.error ? <Problem problem={compare.error} /> : null}
      {compare.isSuccess && verdicts.length === 0 ? (
        <Notice title="Nothing to verify">Paste a signature, a body, or both.</Notice>
      ) : null}
      {verdicts.map(({ ok, text }) => (
        <Notice
          key={text}
          tone={ok ? 'good' : 'bad'}
          title={ok ? 'It matches' : 'It does not match'}
        >
          {text}
        </Notice>
      ))}
    </form>
  )
}

function DoctorBox({ endpointId, endpointUrl }: { endpointId: string; endpointUrl: string }) {
  const ask = useAction<{ headers: Record<string, string>; body: string }, Diagnosis>(
    async (received) => api.post(`${await findOwnPath(endpointId, endpointUrl)}/verify`, received),
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const read = (name: string) => String(form.get(name) ?? '').replaceAll('\r\n', '\n')
    ask.mutate({ headers: readHeaders(read('headers')), body: read('body') })
  }
  return (
    <form className="verify" onSubmit={submit}>
      <h3>Ask the signature doctor</h3>
      <p className="muted">
        Paste the headers and the body that your receiver got, or that it computed. The answer names
        the mistake; your key stays where it is.
      </p>
      <Area
        label="Headers as received"
        name="headers"
        rows={4}
        placeholder={'X-Paybell-Hmac: …\nwebhook-id: …\nwebhook-timestamp: …'}
        hint="One per line, as name: value"
      />
      <Area label="Body as received" name="body" rows={5} />
      <div>
        <Button type="submit" look="primary" disabled={ask.isPending}>
          Verify
        </Button>
      </div>
      {ask.error ? <Problem problem={ask.error} /> : null}
      {ask.data ? (
        <Notice
          tone={ask.data.valid ? 'good' : 'bad'}
          title={ask.data.valid ? 'The signature is valid' : 'The signature is not valid'}
        >
          <ul className="findings">
            {ask.data.findings.map(({ code, detail }) => (
              <li key={code + detail}>
                <code>{code}</code> {detail}
              </li>
            ))}
          </ul>
        </Notice>
      ) : null}
    </form>
  )
}

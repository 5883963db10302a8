// A client's secret that is shown now and never again, and all that an integrator needs to begin.

import type { ReactNode } from 'react'
import type { ApiProblem } from '../../api/client.ts'
import { Code } from '../../ui/basics/copy.tsx'
import { Problem } from '../../ui/basics/messages.tsx'
import { ShownOnce } from '../../ui/forms/shown-once.tsx'

export function SecretOnce({
  title,
  clientId,
  clientSecret,
  accountId,
  beside,
  problem = null,
  onClose,
}: {
  title: string
  clientId: string
  clientSecret: string
  accountId: string | null
  beside?: ReactNode
  /** What went wrong after the secret was made. */
  problem?: ApiProblem | null
  onClose(): void
}) {
  return (
    <ShownOnce
      title={title}
      word="secret"
      label="Client secret"
      secret={clientSecret}
      grants="act as the client"
      beside={beside}
      onClose={onClose}
    >
      {problem ? <Problem problem={problem} /> : null}
      <div>
        <span className="field-label">For the integrator</span>
        <Code text={integratorBlock(clientId, clientSecret, accountId)} label="Copy the block" />
      </div>
    </ShownOnce>
  )
}

/** Settings first, then the two calls that show that they work. */
function integratorBlock(clientId: string, secret: string, accountId: string | null): string {
  const settings = [
    `export PAYBELL_URL=${window.location.origin}`,
    `export PAYBELL_CLIENT_ID=${clientId}`,
    `export PAYBELL_CLIENT_SECRET=${secret}`,
    ...(accountId === null ? [] : [`export PAYBELL_ACCOUNT_ID=${accountId}`]),
  ]
  const list =
    accountId === null
      ? `curl -s "$PAYBELL_URL/v1/webhooks" -H "Authorization: Bearer $TOKEN"`
      : `curl -s "$PAYBELL_URL/v1/webhooks/list" -H "Authorization: Bearer $TOKEN" \\
  -H "AccountId: $PAYBELL_ACCOUNT_ID"`
  return `${settings.join('\n')}

TOKEN=$(curl -s "$PAYBELL_URL/auth/token" -H 'Content-Type: application/json' \\
  -d "{\\"clientId\\": \\"$PAYBELL_CLIENT_ID\\", \\"clientSecret\\": \\"$PAYBELL_CLIENT_SECRET\\"}" \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
${list}`
}

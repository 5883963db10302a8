// A secret that is shown now and never again, and all that an integrator needs to begin.

import { Code, Copy } from '../../ui/copy.tsx'
import { Notice } from '../../ui/messages.tsx'

export function SecretOnce({
  clientId,
  clientSecret,
  accountId,
}: {
  clientId: string
  clientSecret: string
  accountId: string | null
}) {
  return (
    <>
      <Notice tone="warn" title="Copy the secret now: it is not shown again">
        Paybell stores only a hash of it. Anyone who has it can act as the client.
      </Notice>
      <div>
        <span className="field-label">Client secret</span>
        <div>
          <code className="break" data-testid="client-secret">
            {clientSecret}
          </code>
          <Copy text={clientSecret} label="Copy the client secret" />
        </div>
      </div>
      <div>
        <span className="field-label">For the integrator</span>
        <Code text={integratorBlock(clientId, clientSecret, accountId)} label="Copy the block" />
      </div>
    </>
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

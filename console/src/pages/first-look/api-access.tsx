// What a client's programs need to call the API: its address, the client's ids, and how to get a token. The
// secret is not here: the service does not know it.

import { useSession } from '../../api/session.ts'
import { Code, Copy, Id } from '../../ui/basics/copy.tsx'
import { Facts, Panel } from '../../ui/basics/page.tsx'
import { toTokenCommand } from './snippets.ts'

export function ApiAccess() {
  const { clientId = '', accounts = [] } = useSession()
  const url = window.location.origin
  return (
    <Panel
      title="API access"
      aside={
        <>
          <a href="/guides/first-hour">First hour</a>
          <a href="/guides/api">Client API</a>
          <a href="/docs/">Reference</a>
        </>
      }
    >
      <Facts
        of={[
          [
            'Address',
            <span key="url">
              <code>{url}</code>
              <Copy text={url} label="Copy the address" />
            </span>,
          ],
          ['Client id', <Id key="client" value={clientId} />],
          ...accounts.map(
            ({ id, name }) => [`Account ${name}`, <Id key={id} value={id} />] as const,
          ),
          ['Client secret', <span key="secret">given to you by the operator, not shown here</span>],
        ]}
      />
      <p className="muted">
        A token lasts an hour. Get one with your id and secret, and send it as{' '}
        <code>Authorization: Bearer …</code>; <code>AccountId</code> names the account.
      </p>
      <Code text={toTokenCommand({ url, clientId })} label="Copy the command" />
    </Panel>
  )
}

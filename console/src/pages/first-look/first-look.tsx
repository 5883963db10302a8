// What a client that has got nothing yet sees first: three steps that lead to its first callback, from here or
// from its own code.

import { type ReactNode, useState } from 'react'
import { useSession } from '../../api/session.ts'
import type { Endpoint } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Code } from '../../ui/basics/copy.tsx'
import { Icon } from '../../ui/basics/icon.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Notice } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { Choice } from '../../ui/forms/field.tsx'
import { newSharedKey } from '../endpoint/doors.ts'
import { Register } from '../endpoints/register.tsx'
import { SendTest } from './send-test.tsx'
import { LANGUAGES, type Language, toSnippet } from './snippets.ts'
import './first-look.css'

export function FirstLook({ endpoint }: { endpoint: Endpoint | undefined }) {
  const { mode, accounts = [], command } = useSession()
  const [isRegistering, setRegistering] = useState(false)
  return (
    <Panel title="Get your first callback">
      <ol className="first-steps">
        <Step number={1} title="Register an endpoint" isDone={endpoint !== undefined}>
          {endpoint ? (
            <p className="muted break">{endpoint.endpointUrl}</p>
          ) : (
            <>
              <p className="muted">
                The address of your receiver, and a key that only you and Paybell know.
              </p>
              <div>
                <Button look="primary" onClick={() => setRegistering(true)}>
                  Register an endpoint
                </Button>
              </div>
            </>
          )}
        </Step>
        <Step number={2} title="Send a test">
          <p className="muted">
            One signed test callback. Your receiver verifies it and answers 200:{' '}
            <a href="/guides/receivers">receivers to paste</a>, in eight languages.
          </p>
          {endpoint ? <SendTest endpoint={endpoint} /> : null}
        </Step>
        <Step number={3} title="Watch the first delivery">
          <p className="muted">
            Every change of a payment is delivered to each of your endpoints. The first one appears
            below, with every attempt and what your receiver answered.{' '}
            {mode === 'sandbox'
              ? 'In the sandbox, this makes one:'
              : 'Ask the operator to change a payment, or wait for the next one.'}
          </p>
          {mode === 'sandbox' ? (
            <Code text={toTrigger(command, accounts)} label="Copy the command" />
          ) : null}
        </Step>
      </ol>
      {endpoint ? null : <FromCode />}
      {isRegistering ? <Register onClose={() => setRegistering(false)} /> : null}
    </Panel>
  )
}

/** The sandbox has a client of its own, whose account it takes unless another is named. */
function toTrigger(command = 'paybell', [account]: readonly { id: string }[]): string {
  return `${command} trigger --state DRAFT${account ? ` --account ${account.id}` : ''}`
}

function Step({
  number,
  title,
  isDone = false,
  children,
}: {
  number: number
  title: string
  isDone?: boolean
  children: ReactNode
}) {
  return (
    <li className={isDone ? 'is-done' : undefined}>
      <span className="step-mark" aria-hidden="true">
        {isDone ? <Icon name="check" /> : number}
      </span>
      <h3>
        {title}
        {isDone ? <span className="visually-hidden"> (done)</span> : null}
      </h3>
      <div className="stack">{children}</div>
    </li>
  )
}

function FromCode() {
  const { clientId = '', accounts = [], mode } = useSession()
  const [language, setLanguage] = useState<Language>('curl')
  // The same in each language, and not another one whenever the page is drawn.
  const [sharedKey] = useState(newSharedKey)
  const url = window.location.origin
  const account = accounts[0]
  if (account === undefined) {
    return (
      <Notice tone="warn" title="You have no account yet">
        A webhook belongs to an account. Ask the operator to create one.
      </Notice>
    )
  }
  const callbackUrl =
    mode === 'sandbox' ? `${url}/sandbox/receiver/first-callback` : 'https://example.com/paybell'
  return (
    <section className="stack" aria-label="From your code">
      <div className="row spread">
        <h3>Or steps 1 and 2 from your code</h3>
        <Choice<Language>
          label="Language"
          value={language}
          options={LANGUAGES}
          onChange={setLanguage}
        />
      </div>
      <p className="muted">
        For the account {account.name}. It reads your client secret from{' '}
        <code>PAYBELL_CLIENT_SECRET</code>; everything else is filled in.{' '}
        {mode === 'sandbox'
          ? 'The address is a receiver inside this sandbox.'
          : 'Put the address of your receiver in place of example.com.'}
      </p>
      <Code
        text={toSnippet(language, { url, clientId, accountId: account.id, callbackUrl, sharedKey })}
        label="Copy the program"
      />
      <p className="muted">
        Step by step: <a href="/guides/first-hour">your first hour as an integrator</a>. Or{' '}
        <Link to="/endpoints">see all endpoints</Link>.
      </p>
    </section>
  )
}

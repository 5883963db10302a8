// Signs in with the company, an operator's key, a client's credentials, or a one-time link, whose token is in the
// fragment of the address, which browsers send to no server and which no log has.

import { type FormEvent, useEffect, useRef, useState } from 'react'
import { ApiProblem, isEmbedded } from '../../api/client.ts'
import { type Credentials, signIn } from '../../api/session.ts'
import { currentLocation } from '../../router.ts'
import { brand } from '../../ui/basics/brand.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Notice, Problem } from '../../ui/basics/messages.tsx'
import { Choice, Field } from '../../ui/forms/field.tsx'
import './sign-in.css'

type Kind = 'operator' | 'client'

export function SignIn({
  isSandbox,
  company,
  onSignedIn,
}: {
  isSandbox: boolean
  /** Where operators can sign in with their company; null: nowhere. */
  company: string | null
  onSignedIn(): Promise<void>
}) {
  const [kind, setKind] = useState<Kind>('operator')
  const [problem, setProblem] = useState<ApiProblem | null>(null)
  const [isBusy, setBusy] = useState(false)

  useEffect(() => {
    document.title = `Sign in · ${brand.name}`
  }, [])

  const enter = async (credentials: Credentials) => {
    setBusy(true)
    setProblem(null)
    try {
      await signIn(credentials)
      await onSignedIn()
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : new ApiProblem(0))
    } finally {
      setBusy(false)
    }
  }

  // Once, even where effects run twice: a link is good for one sign-in.
  const usedLink = useRef<string | null>(null)
  const link = currentLocation().path === '/sign-in' ? currentLocation().hash.slice(1) : ''
  useEffect(() => {
    if (link === '' || usedLink.current === link) return
    usedLink.current = link
    window.history.replaceState(null, '', window.location.pathname)
    void enter({ link })
  })

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    void enter(
      kind === 'operator'
        ? { operatorKey: text('operatorKey') }
        : { clientId: text('clientId'), clientSecret: text('clientSecret') },
    )
  }

  if (isEmbedded) {
    return (
      <main className="sign-in">
        <h1>{isBusy ? 'Signing in…' : 'You are signed out'}</h1>
        {problem ? <Refusal problem={problem} /> : null}
        <p className="muted">Load the page again to sign in.</p>
      </main>
    )
  }
  return (
    <main className="sign-in">
      <div className="sign-in-head">
        <img src={brand.logo} alt="" width={32} height={32} />
        <h1>{brand.name} console</h1>
      </div>
      <form className="panel sign-in-form" onSubmit={submit}>
        <Choice
          label="Sign in as"
          value={kind}
          onChange={(next) => {
            setKind(next)
            setProblem(null)
          }}
          options={[
            ['operator', 'Operator'],
            ['client', 'Client'],
          ]}
        />
        {kind === 'operator' && company !== null ? (
          <a className="button button-primary" href="/console/oidc/sign-in">
            Sign in with {company}
          </a>
        ) : null}
        {kind === 'operator' ? (
          <Field
            key="operatorKey"
            label="Operator key"
            name="operatorKey"
            type="password"
            autoComplete="current-password"
            required
            maxLength={1024}
            hint="Your role decides what you can do: viewers can read, admins can change."
          />
        ) : (
          <>
            <Field
              key="clientId"
              label="Client id"
              name="clientId"
              autoComplete="username"
              spellCheck={false}
              required
              maxLength={64}
            />
            <Field
              key="clientSecret"
              label="Client secret"
              name="clientSecret"
              type="password"
              autoComplete="current-password"
              required
              maxLength={1024}
              hint="The credentials that the operator gave you. You see your own accounts only."
            />
          </>
        )}
        {problem ? <Refusal problem={problem} /> : null}
        <Button type="submit" look="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
      <div className="sign-in-foot muted">
        {isSandbox ? (
          <p>
            This is a sandbox: <code>npm start</code> prints a link that signs you in once.
          </p>
        ) : null}
        <p>
          <a href="/guides/">Guides</a> · <a href="/docs/">API reference</a>
        </p>
      </div>
    </main>
  )
}

function Refusal({ problem }: { problem: ApiProblem }) {
  if (problem.code !== 'invalid-credentials') return <Problem problem={problem} />
  return (
    <Notice tone="bad" title="Sign-in failed">
      {problem.detail}
    </Notice>
  )
}

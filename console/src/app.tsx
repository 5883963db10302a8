// The shell: who is signed in, which page is open, and the navigation.

import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useEffect, useState } from 'react'
import { type ApiProblem, api, SESSION_ENDED } from './api/client.ts'
import { SESSION_PATH, SessionContext, signOut } from './api/session.ts'
import type { Session } from './api/types.ts'
import { CellSwitch } from './cells/cell-switch.tsx'
import { Find } from './find/find.tsx'
import { type ConsolePage, PAGES } from './pages/index.ts'
import { NotFound } from './pages/not-found.tsx'
import { SignIn } from './pages/sign-in/sign-in.tsx'
import { matchPath, navigate, useLocation } from './router.ts'
import { Badge } from './ui/basics/badge.tsx'
import { applyTheme, brand } from './ui/basics/brand.ts'
import { Button } from './ui/basics/button.tsx'
import { Failsafe } from './ui/basics/failsafe.tsx'
import { Icon } from './ui/basics/icon.tsx'
import { Link } from './ui/basics/link.tsx'
import { Loading, Notice, Problem } from './ui/basics/messages.tsx'
import { PageHead } from './ui/basics/page.tsx'
import { ThemeToggle } from './ui/forms/theme.tsx'
import { ZoneToggle } from './ui/times/zone-toggle.tsx'

/** Without a session, `kind` is null: for the console that is an answer, not a failure. */
type Visitor =
  | Session
  | { kind: null; mode: Session['mode']; signInWith?: string; theme?: Session['theme'] }

export function App() {
  const queries = useQueryClient()
  const session = useQuery<Visitor, ApiProblem>({
    queryKey: [SESSION_PATH],
    queryFn: async () => {
      const read = await api.get<Visitor>(SESSION_PATH)
      applyTheme(read.theme)
      return read
    },
    refetchInterval: 60_000,
  })
  const { path } = useLocation()
  const [isLeaving, setLeaving] = useState(false)

  useEffect(() => {
    const askAgain = () => void queries.invalidateQueries({ queryKey: [SESSION_PATH] })
    window.addEventListener(SESSION_ENDED, askAgain)
    return () => window.removeEventListener(SESSION_ENDED, askAgain)
  }, [queries])

  const onSignedIn = async () => {
    forgetPages(queries)
    await queries.invalidateQueries({ queryKey: [SESSION_PATH] })
    if (path === '/sign-in') navigate('/', { isReplacing: true })
  }

  const onLeave = async () => {
    // The pages leave first: what they ask for once the session has ended would be refused.
    setLeaving(true)
    forgetPages(queries)
    // Also when it failed: whoever is still signed in is told so.
    await signOut().catch(() => {})
    await queries.invalidateQueries({ queryKey: [SESSION_PATH] })
    navigate('/', { isReplacing: true })
    setLeaving(false)
  }

  if (isLeaving) return <Loading what="Signing out…" />
  if (session.isPending) return <Loading what="Asking who you are…" />
  if (session.data === undefined) return <Problem problem={session.error as ApiProblem} />
  if (session.data.kind === null || path === '/sign-in') {
    return (
      <SignIn
        isSandbox={session.data.mode === 'sandbox'}
        company={session.data.signInWith ?? null}
        onSignedIn={onSignedIn}
      />
    )
  }
  return (
    <SessionContext value={session.data}>
      <Shell session={session.data} onLeave={() => void onLeave()} />
    </SessionContext>
  )
}

/** The next user must not see what the one before has read. */
function forgetPages(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey: [key] }) => key !== SESSION_PATH })
}

function Shell({ session, onLeave }: { session: Session; onLeave(): void }) {
  const { path } = useLocation()
  const pages = PAGES.filter((page) => isFor(page, session))
  // An auditor has one page.
  const wanted = path === '/' && session.role === 'auditor' ? '/audit' : path
  const found = pages
    .map((page) => ({ page, params: matchPath(page.path, wanted) }))
    .find(({ params }) => params !== null)
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Side session={session} pages={pages} path={path} onLeave={onLeave} />
      <main className="main" id="main">
        <div className="page">
          <Failsafe key={path}>
            <Suspense fallback={<Loading />}>
              {session.role === 'ingest' ? (
                <WritesOnly />
              ) : found ? (
                <found.page.component key={path} params={found.params ?? {}} />
              ) : (
                <NotFound />
              )}
            </Suspense>
          </Failsafe>
        </div>
      </main>
    </div>
  )
}

/** Says why, instead of a page full of refusals. */
function WritesOnly() {
  return (
    <>
      <PageHead title="Nothing to see with this key" />
      <Notice title="Its role is ingest">
        It writes payments and reads nothing. Sign out, and in again with the key of a viewer or an
        admin.
      </Notice>
    </>
  )
}

function isFor(page: ConsolePage, session: Session): boolean {
  if (page.isSandboxOnly && session.mode !== 'sandbox') return false
  if (session.role === 'auditor') return page.path === '/audit'
  if (session.role === 'ingest') return false
  return page.for.includes(session.kind)
}

function Side({
  session,
  pages,
  path,
  onLeave,
}: {
  session: Session
  pages: readonly ConsolePage[]
  path: string
  onLeave(): void
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <header className={`side${isOpen ? ' is-open' : ''}`}>
      <div className="side-top">
        <Link to="/" className="brand">
          <img src={brand.logo} alt="" width={22} height={22} />
          {brand.name}
          {session.mode === 'sandbox' ? (
            <span className="brand-mode">
              <Badge tone="warn" isPlain>
                sandbox
              </Badge>
            </span>
          ) : null}
        </Link>
        {session.role === 'ingest' || session.role === 'auditor' ? null : <Find />}
        <Button
          className="menu-button"
          aria-expanded={isOpen}
          aria-controls="nav"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </Button>
      </div>
      {session.role === 'admin' || session.role === 'viewer' ? <CellSwitch /> : null}
      <nav className="nav" id="nav" aria-label="Pages">
        {pages
          .filter((page) => !page.path.includes(':'))
          .map((page) => (
            <Link
              key={page.path}
              to={page.path}
              aria-current={isWithin(path, page.path) ? 'page' : undefined}
              onClick={() => setOpen(false)}
            >
              {page.icon ? <Icon name={page.icon} /> : null}
              {page.title}
            </Link>
          ))}
      </nav>
      <SideFoot session={session} onLeave={onLeave} />
    </header>
  )
}

function isWithin(path: string, parent: string): boolean {
  return path === parent || (parent !== '/' && path.startsWith(`${parent}/`))
}

function SideFoot({ session, onLeave }: { session: Session; onLeave(): void }) {
  return (
    <div className="side-foot">
      <div className="break">
        <span className="muted">Signed in as </span>
        <strong>
          {session.kind === 'operator' ? session.actor : (session.clientName ?? 'a client')}
        </strong>
        {session.role ? <span className="muted"> ({session.role})</span> : null}
      </div>
      {session.timeScale > 1 ? (
        <div className="muted">Time runs {session.timeScale}× faster</div>
      ) : null}
      <div>
        <a href="/guides/">Guides</a> · <a href="/docs/">API reference</a>
      </div>
      <ZoneToggle />
      <ThemeToggle />
      <Button isSmall onClick={onLeave}>
        Sign out
      </Button>
      <div className="muted">Paybell {session.version}</div>
    </div>
  )
}

// Who is signed in. Pages ask `useSession()`, and `useCan(role)` before they show a control that acts.

import { createContext, useContext } from 'react'
import { api } from './client.ts'
import type { Role, Session } from './types.ts'

export const SESSION_PATH = '/console/session'

export type Credentials =
  | { operatorKey: string }
  | { clientId: string; clientSecret: string }
  | { link: string }

export function signIn(credentials: Credentials): Promise<void> {
  return api.post(SESSION_PATH, credentials)
}

/** Leads on to the company, where the session began there. */
export async function signOut(): Promise<void> {
  const answer = await api.delete<{ signOutUrl: string } | undefined>(SESSION_PATH)
  if (answer?.signOutUrl !== undefined) window.location.assign(answer.signOutUrl)
}

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession is for pages, which are behind the sign-in')
  return session
}

/**
 * Whether this session may do what `sufficient` suffices for on the operator's side. A client acts on
 * its own things through its own API: there the answer is always yes.
 */
export function useCan(sufficient: Role = 'admin'): boolean {
  const { kind, role } = useSession()
  return kind === 'client' || role === 'admin' || role === sufficient
}

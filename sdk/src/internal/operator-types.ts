// The operator's shapes, and what the console's session and the sandbox send, for the console and the command
// line. The package does not export the latter.
// Written by `npm run wire` from the schemas of server/http; a test compares them.

import type { Account, Role } from '../wire/operator-types.ts'

export type * from '../wire/operator-types.ts'

export interface Session {
  /** Null when no one is signed in. */
  kind: 'operator' | 'client' | null
  /** The name of the operator’s key. */
  actor?: string
  role?: Role
  clientId?: string
  clientName?: string
  /** The client’s accounts, oldest first, 100 at most. */
  accounts?: Account[]
  mode: 'sandbox' | 'production'
  version: string
  timeScale: number
  /** What to type for `paybell` where this sandbox was started. */
  command?: string
  expiresAt?: string
  /** How the console looks (`PAYBELL_CONSOLE_THEME`). */
  theme?: {
    name: string | null
    accent: string | null
    logo: string | null
  }
  /** Where operators can sign in with their company, if they can. */
  signInWith?: string
}

export interface SandboxReceiver {
  name: string
  script: number[]
  delayMs: number
  body: string
  redirectTo: string | null
  /** How many came in all. */
  count: number
  /** The latest 100, newest first. */
  received: {
    at: string
    /** What was answered. */
    status: number
    headers: Record<string, string>
    /** The first 8 KiB. */
    body: string
    bodyBytes: number
    signatureValid: boolean | null
  }[]
}

// The settings of sign-in with the company (OpenID Connect), which have a meaning only together.

import { ROLES, type Role } from '../core/plain/operator.ts'
import type { Mode } from '../core/plain/setting.ts'
import type { SettingName } from './settings.ts'

export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  roleClaim: string
  /** In the order of the setting: of several the first counts. */
  roles: readonly GroupRole[]
}

export interface GroupRole {
  group: string
  role: Role
}

const NEEDED = [
  'PAYBELL_OIDC_CLIENT_ID',
  'PAYBELL_OIDC_CLIENT_SECRET',
  'PAYBELL_OIDC_ROLES',
] as const
const GROUPS_MAX = 100

/** Null when people do not sign in with their company. */
export function readOidc(
  read: (name: SettingName) => string | undefined,
  mode: Mode,
  faults: string[],
): OidcSettings | null {
  const issuer = read('PAYBELL_OIDC_ISSUER')
  if (issuer === undefined) {
    const [stray] = NEEDED.filter((name) => read(name) !== undefined)
    if (stray !== undefined) faults.push(`${stray} is set without PAYBELL_OIDC_ISSUER`)
    return null
  }
  if (!isIssuer(issuer, mode)) faults.push('PAYBELL_OIDC_ISSUER must be an https URL')
  for (const name of NEEDED) {
    if (read(name) === undefined) faults.push(`PAYBELL_OIDC_ISSUER needs ${name}`)
  }
  const rolesText = read('PAYBELL_OIDC_ROLES')
  const roles = rolesText === undefined ? [] : parseRoles(rolesText)
  if (roles === undefined) {
    faults.push(
      `PAYBELL_OIDC_ROLES must be group=role, comma-separated, each group once and at most ${GROUPS_MAX}; roles are ${ROLES.join(', ')}`,
    )
  }
  return {
    issuer,
    clientId: read('PAYBELL_OIDC_CLIENT_ID') ?? '',
    clientSecret: read('PAYBELL_OIDC_CLIENT_SECRET') ?? '',
    roleClaim: read('PAYBELL_OIDC_ROLE_CLAIM') ?? '',
    roles: roles ?? [],
  }
}

/** A sandbox may try a provider on the same machine. */
function isIssuer(text: string, mode: Mode): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, search, hash, username } = new URL(text)
  const isPlain = search === '' && hash === '' && username === ''
  return isPlain && (protocol === 'https:' || (mode === 'sandbox' && protocol === 'http:'))
}

function parseRoles(text: string): readonly GroupRole[] | undefined {
  const pairs = text.split(',').map((pair) => pair.trim())
  const roles: GroupRole[] = []
  for (const pair of pairs) {
    // The last one: names of groups may have the sign, roles do not.
    const at = pair.lastIndexOf('=')
    const group = pair.slice(0, Math.max(at, 0)).trim()
    const role = ROLES.find((one) => one === pair.slice(at + 1).trim())
    if (group === '' || role === undefined || roles.some((one) => one.group === group)) return
    roles.push({ group, role })
  }
  return roles.length > GROUPS_MAX ? undefined : roles
}

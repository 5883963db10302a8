// Who acts for the operator, and what each role may do. Every route of the operator names the role
// that suffices for it; an admin may do everything, and a viewer may read what an auditor reads.

export const ROLES = ['admin', 'ingest', 'viewer', 'auditor'] as const

/** `ingest` feeds payments in and does nothing else; `viewer` reads everything, `auditor` the audit alone. */
export type Role = (typeof ROLES)[number]

export interface Operator {
  /** The name of the key, as the audit knows it. */
  actor: string
  role: Role
}

/** The key of PAYBELL_OPERATOR_KEY. It is there before any other, and ends with its setting. */
export const FIRST_OPERATOR: Operator = { actor: 'operator', role: 'admin' }

/** Whether a role suffices where `sufficient` does. */
export function isAllowed(role: Role, sufficient: Role): boolean {
  return role === 'admin' || role === sufficient || (role === 'viewer' && sufficient === 'auditor')
}

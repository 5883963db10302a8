// What a credential is by its form alone, for those who sent it to the wrong side. Nothing secret is looked at: a forged
// one has the form of a real one, so the answer tells a guesser nothing.

export type CredentialKind =
  | 'access-token'
  | 'operator-key'
  | 'client-secret'
  | 'person-session'
  | 'none'

/** Keys of the table, and the one that a sandbox makes. A key of PAYBELL_OPERATOR_KEY may have any form. */
const OPERATOR_KEY = /^pb[ko]_/
const CLIENT_SECRET = /^pbs_/
/** What `paybell login --sso` keeps. */
const PERSON_SESSION = /^pbp_/

export function kindOfCredential(text: string): CredentialKind {
  if (OPERATOR_KEY.test(text)) return 'operator-key'
  if (CLIENT_SECRET.test(text)) return 'client-secret'
  if (PERSON_SESSION.test(text)) return 'person-session'
  return isJwt(text) ? 'access-token' : 'none'
}

/** RFC 7515 §3.1: three parts, of which the first is a JSON object. */
function isJwt(text: string): boolean {
  const parts = text.split('.', 4)
  if (parts.length !== 3) return false
  try {
    const header: unknown = JSON.parse(Buffer.from(parts[0] as string, 'base64url').toString())
    return typeof header === 'object' && header !== null && !Array.isArray(header)
  } catch {
    return false
  }
}

// An export of a sealed audit with all that an auditor keeps elsewhere: keys and a head.

import { OPERATOR_KEY } from './injected-server.ts'
import { startSealedAudit } from './sealed-audit.ts'

export interface KeptAudit {
  /** Of the export. */
  lines: readonly string[]
  head: { segment: number; digest: string }
  /** The JWKS. */
  keys: object
  /** Of the key that signs. */
  kid: string
  /** Under the service's own key. */
  sign(typ: string, claims: object): Promise<string>
  end(): Promise<void>
}

const SEGMENTS = 5
const ROWS = 3

/** Five segments of three rows, with everything in them that is spelt differently somewhere. */
export async function keepAudit(): Promise<KeptAudit> {
  const ends: (() => unknown)[] = []
  const owner = { after: (end: () => unknown) => void ends.unshift(end) }
  const sealed = await startSealedAudit(owner as never, { drop: true })
  for (let segment = 1; segment <= SEGMENTS; segment++) {
    for (let row = 0; row < ROWS; row++) {
      await sealed.audit(`naïve "☂" \\ \u0001\u007f\u2028\u2029\u0085 🎈 ${segment}-${row}!`)
    }
    await sealed.seal()
  }
  const get = async (url: string) => {
    const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
    return await sealed.app.inject({ url, headers })
  }
  const keys = (await get('/.well-known/webhook-keys.json')).json()
  return {
    lines: (await get('/operator/v1/audit/export')).body.trimEnd().split('\n'),
    head: (await get('/operator/v1/audit/head')).json(),
    keys,
    kid: keys.keys[0].kid,
    sign: (typ, claims) => sealed.deps.webhookKeys.signStatement(typ, claims),
    end: async () => {
      for (const end of ends) await end()
    },
  }
}

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import { jwtVerify } from 'jose'
import { loadConfig } from '../../config/config.ts'
import { readClaims, readKeyId } from '../../core/proofs/token.ts'
import { issueToken, tokenParty } from './issue-token.ts'

const CLIENT_ID = '019cade2-1350-7af3-913d-2f16aae956b4'
const NOW_MS = 1_800_000_000_400

test('a token says what was signed, to the letter, and is read back as it is asked for', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const config = loadConfig('sandbox', { PAYBELL_TOKEN_TTL_SECONDS: '90' })
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 }
  const { token, lifetimeSeconds } = await issueToken(
    { clock, config, newId: () => 'a' },
    {
      issuer: { name: async () => 'https://paybell.test' },
      keyring: { signer: async () => ({ kid: 'k1', key: privateKey }) },
    },
    CLIENT_ID,
  )
  assert.equal(lifetimeSeconds, 90)
  const [header = '', payload = ''] = token.split('.')
  assert.equal(textOf(header), '{"alg":"EdDSA","typ":"at+jwt","kid":"k1"}')
  assert.equal(
    textOf(payload),
    `{"iss":"https://paybell.test","aud":"paybell-api","sub":"${CLIENT_ID}","iat":1800000000,"nbf":1800000000,"exp":1800000090,"jti":"a"}`,
  )
  assert.equal(readKeyId(token), 'k1')
  const verified = await jwtVerify(token, publicKey, { currentDate: new Date(NOW_MS) })
  assert.deepEqual(readClaims(verified.payload, tokenParty(config), NOW_MS), {
    clientId: CLIENT_ID,
    expiresAtMs: 1_800_000_090_000,
  })
})

function textOf(part: string): string {
  return Buffer.from(part, 'base64url').toString()
}

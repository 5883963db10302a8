// What single steps cost in this Node on this machine: signing, verifying a token, the exact parse.

import { createSecretKey, generateKeyPairSync } from 'node:crypto'
import { generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { parseJson } from '../../server/core/plain/exact-json.ts'
import { signAsymmetric, signedContent } from '../../server/core/signatures/asymmetric-signature.ts'
import { hmacHex, standardSignature } from '../../server/core/signatures/signature.ts'
import { monotonicMs } from '../harness/monotonic.ts'
import { PaymentMaker } from '../harness/payments.ts'

export interface LoopFigure {
  name: string
  microseconds: number
}

const LOOP_MS = 250

export async function cpuLoops(): Promise<LoopFigure[]> {
  const figures: LoopFigure[] = []
  const pairs = [{ kid: 'bench', key: generateKeyPairSync('ed25519').privateKey }]
  const key = createSecretKey(Buffer.from('a-long-random-text-that-only-we-two-know'))
  for (const [label, documentBytes] of [
    ['0.4 KB', 0],
    ['10 KB', 7_500],
    ['1 MB', 750_000],
  ] as const) {
    const bytes = Buffer.from(new PaymentMaker('loops', documentBytes).body(1))
    const id = '019a8f6e-1c2d-7a3b-8c4d-5e6f70819203'
    figures.push({
      name: `two HMACs, ${label}`,
      microseconds: await time(() => {
        hmacHex(key, [bytes])
        standardSignature(key, id, 1_700_000_000, [bytes])
      }),
    })
    figures.push({
      name: `v1a in a thread of the pool, ${label}`,
      microseconds: await time(() =>
        signAsymmetric(pairs, signedContent(id, 1_700_000_000, [bytes])),
      ),
    })
    figures.push({
      name: `exact parse, ${label}`,
      microseconds: await time(() => parseJson(bytes)),
    })
    const text = bytes.toString()
    figures.push({
      name: `JSON.parse alone, ${label}`,
      microseconds: await time(() => JSON.parse(text)),
    })
  }
  const { publicKey, privateKey } = await generateKeyPair('EdDSA')
  const sign = () =>
    new SignJWT({ sub: 'x' })
      .setProtectedHeader({ alg: 'EdDSA' })
      .setExpirationTime('1h')
      .sign(privateKey)
  const token = await sign()
  figures.push({ name: 'jose, sign EdDSA', microseconds: await time(sign) })
  figures.push({
    name: 'jose, verify EdDSA',
    microseconds: await time(() => jwtVerify(token, publicKey)),
  })
  return figures
}

async function time(once: () => unknown): Promise<number> {
  for (const until = monotonicMs() + LOOP_MS / 4; monotonicMs() < until; ) await once()
  let count = 0
  const from = monotonicMs()
  while (monotonicMs() - from < LOOP_MS) {
    const made = once()
    if (made instanceof Promise) await made
    count++
  }
  return ((monotonicMs() - from) / count) * 1_000
}

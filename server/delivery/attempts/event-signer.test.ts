import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { EventSigner } from './event-signer.ts'

const PAIR = { kid: 'k', key: generateKeyPairSync('ed25519').privateKey }
const BODY = [Buffer.from('{}')]

function signable(changes: Partial<Parameters<EventSigner['sign']>[0]> = {}) {
  return {
    eventId: 'e',
    variant: 'inline',
    timestampSeconds: 1_700_000_000,
    body: BODY,
    bytes: 2,
    ...changes,
  }
}

function signerWith(limits = { signaturesMax: 100, bytesMax: 1_000_000 }) {
  const seen = { made: 0, asked: 0 }
  const environment = {
    async signers() {
      seen.asked++
      return [PAIR]
    },
    onSigned: () => seen.made++,
  }
  const signer = new EventSigner(environment, limits)
  return { signer, seen }
}

test('an event is signed once in a second, however many endpoints it goes to', async () => {
  const { signer, seen } = signerWith()
  const all = await Promise.all(Array.from({ length: 50 }, () => signer.sign(signable())))
  assert.equal(new Set(all).size, 1)
  assert.equal(seen.made, 1)
  assert.ok(!(signer.sign(signable()) instanceof Promise), 'what is known is not awaited')
})

test('another second, another event and another body are signed by themselves', async () => {
  const { signer, seen } = signerWith()
  const [first, ...others] = await Promise.all([
    signer.sign(signable()),
    signer.sign(signable({ timestampSeconds: 1_700_000_001 })),
    signer.sign(signable({ eventId: 'f' })),
    signer.sign(signable({ variant: 'none', body: [Buffer.from('{"b":1}')] })),
  ])
  assert.equal(seen.made, 4)
  for (const other of others) assert.notEqual(other?.entries, first?.entries)
})

test('what is kept is bounded', async () => {
  const { signer, seen } = signerWith({ signaturesMax: 2, bytesMax: 1 })
  for (const eventId of ['a', 'b', 'c', 'a']) await signer.sign(signable({ eventId }))
  assert.equal(seen.made, 4)
})

test('large bodies are signed one after the other where there is no room for two', async () => {
  const { signer, seen } = signerWith({ signaturesMax: 10, bytesMax: 200_000 })
  const large = { body: [Buffer.alloc(150_000)], bytes: 150_000 }
  const both = ['a', 'b'].map((eventId) => signer.sign(signable({ eventId, ...large })))
  await Promise.resolve()
  await Promise.resolve()
  assert.equal(seen.asked, 1, 'the second has not begun')
  await Promise.all(both)
  assert.equal(seen.made, 2)
})

test('a failure is not kept: the next one asks again', async () => {
  let isAway = true
  const signer = new EventSigner({
    async signers() {
      if (isAway) throw new Error('away')
      return [PAIR]
    },
  })
  await assert.rejects(async () => signer.sign(signable()), /away/)
  isAway = false
  assert.equal((await signer.sign(signable())).keyId, 'k')
})

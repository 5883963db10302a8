import assert from 'node:assert/strict'
import { createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { isBound, Sealer } from './sealing.ts'

const [OLD, NEW] = [randomBytes(32), randomBytes(32)]
const PLACE = { column: 'endpoints.shared_key', row: 'a' }
const SECRET = Buffer.from('Schlüssel 🔑')

test('law: what is sealed opens to the same bytes, and no two sealed texts are alike', () => {
  const sealer = new Sealer([OLD])
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (secret) => {
      const sealed = sealer.seal(secret, PLACE)
      assert.deepEqual(sealer.open(sealed, PLACE), Buffer.from(secret))
      assert.notDeepEqual(sealer.seal(secret, PLACE), sealed)
    }),
  )
})

test('moved to another row or column it does not open', () => {
  const sealer = new Sealer([OLD])
  const sealed = sealer.seal(SECRET, PLACE)
  assert.throws(() => sealer.open(sealed, { ...PLACE, row: 'b' }))
  assert.throws(() => sealer.open(sealed, { ...PLACE, column: 'endpoints.previous_key' }))
})

test('damaged in any byte, or cut off anywhere, it does not open', () => {
  const sealer = new Sealer([OLD])
  const sealed = sealer.seal(SECRET, PLACE)
  for (const at of sealed.keys()) {
    const damaged = Buffer.from(sealed)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    assert.throws(() => sealer.open(damaged, PLACE), `byte ${at}`)
    assert.throws(() => sealer.open(sealed.subarray(0, at), PLACE), `cut at ${at}`)
  }
  assert.throws(() => sealer.open(Buffer.concat([sealed, Buffer.of(0)]), PLACE))
})

test('after a rotation the old key still reads and the new one writes', () => {
  const before = new Sealer([OLD])
  const during = new Sealer([NEW, OLD])
  const after = new Sealer([NEW])
  const sealed = before.seal(SECRET, PLACE)
  assert.deepEqual(during.open(sealed, PLACE), SECRET)
  const again = during.seal(SECRET, PLACE)
  assert.deepEqual(after.open(again, PLACE), SECRET)
  assert.throws(() => after.open(sealed, PLACE), /not configured/)
  assert.throws(() => before.open(again, PLACE), /not configured/)
})

test('a key has an id that tells it apart and is named in what it seals', () => {
  const sealer = new Sealer([NEW, OLD])
  assert.match(sealer.writeKeyId, /^[0-9a-f]{8}$/)
  assert.notEqual(sealer.writeKeyId, new Sealer([OLD]).writeKeyId)
  assert.ok(sealer.hasKey(new Sealer([OLD]).writeKeyId))
  assert.ok(!sealer.hasKey('00000000'))
  assert.equal(sealer.seal(SECRET, PLACE).toString('hex', 1, 5), sealer.writeKeyId)
  assert.throws(() => new Sealer([]), /needs a master key/)
})

test('a secret matches its digest under the key that made it, and nothing else does', () => {
  const sealer = new Sealer([NEW, OLD])
  const oldId = new Sealer([OLD]).writeKeyId
  const digest = new Sealer([OLD]).digest('secret')
  assert.equal(digest.length, 32)
  assert.ok(sealer.matches('secret', digest, oldId))
  assert.ok(!sealer.matches('Secret', digest, oldId))
  assert.ok(!sealer.matches('secret', digest, sealer.writeKeyId))
  assert.ok(!sealer.matches('secret', digest, '00000000'), 'a key that is gone')
  assert.notDeepEqual(sealer.digest('secret'), digest)
})

test('regression: AES and HMAC have keys of their own, derived from the master key (RFC 5869)', () => {
  const sealer = new Sealer([OLD], { isDerived: true })
  const keys = ['paybell sealing, AES-256-GCM', 'paybell digests, HMAC-SHA-256'].map(
    (info) => new Uint8Array(hkdfSync('sha256', OLD, '', info, 32)),
  )
  const [forSealing, forDigests] = keys as [Uint8Array, Uint8Array]
  const sealed = sealer.seal(SECRET, PLACE)
  const open = (key: Uint8Array) => {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(5, 17))
    decipher
      .setAAD(Buffer.from(`${PLACE.column}\0${PLACE.row}`))
      .setAuthTag(sealed.subarray(17, 33))
    return Buffer.concat([decipher.update(sealed.subarray(33)), decipher.final()])
  }
  assert.deepEqual(open(forSealing), SECRET)
  for (const wrong of [OLD, forDigests]) assert.throws(() => open(wrong))
  const digest = createHmac('sha256', forDigests).update('client-secret\0x').digest()
  assert.deepEqual(sealer.digest('x'), digest)
})

test('what was written under the master key itself is read as ever, and told from what is new', () => {
  const before = new Sealer([OLD])
  const now = new Sealer([OLD], { isDerived: true })
  assert.deepEqual(now.open(before.seal(SECRET, PLACE), PLACE), SECRET)
  assert.ok(now.matches('x', before.digest('x'), before.digestKeyId))
  assert.ok(!now.matches('y', before.digest('x'), before.digestKeyId))
  assert.ok(!now.isCurrent(before.digestKeyId) && now.isCurrent(now.digestKeyId))
  // A process that has not heard of it yet does not take it back.
  assert.ok(before.isCurrent(now.digestKeyId))
  assert.deepEqual(before.open(now.seal(SECRET, PLACE), PLACE), SECRET)
  assert.notDeepEqual(now.sealedPrefix, before.sealedPrefix)
  assert.ok(now.hasKey(before.digestKeyId) && before.hasKey(now.digestKeyId))
  before.writeDerived()
  assert.equal(before.digestKeyId, now.digestKeyId)
})

test('a record is authentic in its own place, unaltered, under a master key that is configured', () => {
  const during = new Sealer([NEW, OLD])
  const old = new Sealer([OLD]).authenticate('a public key', PLACE)
  assert.ok(during.isAuthentic(old, 'a public key', PLACE))
  assert.ok(during.isAuthentic(during.authenticate('a public key', PLACE), 'a public key', PLACE))
  assert.ok(!new Sealer([NEW]).isAuthentic(old, 'a public key', PLACE))
  assert.ok(!during.isAuthentic(old, 'another key', PLACE))
  assert.ok(!during.isAuthentic(old, 'a public key', { ...PLACE, row: 'b' }))
  assert.ok(!during.isAuthentic(old, 'a public key', { ...PLACE, column: 'endpoints.url' }))
  assert.ok(!during.isAuthentic(null, 'a public key', PLACE))
  for (const at of old.keys()) {
    const damaged = Buffer.from(old)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    assert.ok(!during.isAuthentic(damaged, 'a public key', PLACE), `byte ${at}`)
    assert.ok(!during.isAuthentic(old.subarray(0, at), 'a public key', PLACE), `cut at ${at}`)
  }
})

test('what has an address is bound to it once that has begun, and opens for no other', () => {
  const sealer = new Sealer([OLD], { isDerived: true })
  const field = { column: 'endpoints.shared_key', row: 'r', address: 'https://bank.example/' }
  const unbound = sealer.seal(Buffer.from('k'), field)
  assert.ok(!isBound(unbound), 'not before')
  sealer.bindAddresses('begun')
  const bound = sealer.seal(Buffer.from('k'), field)
  assert.ok(isBound(bound))
  assert.deepEqual(bound.subarray(0, 5), sealer.addressedPrefix)
  for (const sealed of [unbound, bound]) assert.equal(sealer.open(sealed, field).toString(), 'k')
  const { address: _, ...withoutAddress } = field
  assert.throws(() => sealer.open(bound, { ...field, address: 'https://thief.example/' }))
  assert.throws(() => sealer.open(bound, withoutAddress))
  const respelt = Buffer.from(bound)
  respelt[0] = unbound[0] as number
  assert.throws(() => sealer.open(respelt, field), 'its form cannot be taken back')

  sealer.bindAddresses('done')
  sealer.bindAddresses('none')
  assert.equal(sealer.binding, 'done', 'nothing leads back')
  assert.throws(() => sealer.open(unbound, field), /without its address/)
  assert.equal(sealer.open(bound, field).toString(), 'k')
  const other = sealer.seal(Buffer.from('k'), withoutAddress)
  assert.equal(sealer.open(other, withoutAddress).toString(), 'k', 'what has no address is as ever')
})

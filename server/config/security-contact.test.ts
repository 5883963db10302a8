import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseContacts, parseExpiry, toSecurityContact } from './security-contact.ts'

test('contacts are https, mailto and tel URIs; anything else would be of no use to a reader', () => {
  for (const good of [
    'mailto:security@example.com',
    'https://example.com/security?from=txt',
    'tel:+1-201-555-0123',
  ]) {
    assert.deepEqual(parseContacts(good), [good])
  }
  assert.deepEqual(parseContacts('https://a.example/, mailto:b@c.example')?.length, 2)
  for (const bad of [
    '',
    'security@example.com',
    'http://example.com/security',
    'mailto:nobody',
    'https://',
    'https://a.example/\nContact: https://b.example/',
    'https://a.example/,',
    `https://a.example/${'x'.repeat(200)}`,
    Array(6).fill('https://a.example/').join(','),
  ]) {
    assert.equal(parseContacts(bad), undefined, bad)
  }
})

test('an expiry is a day or an instant that exists', () => {
  assert.equal(parseExpiry('2027-06-30'), '2027-06-30T00:00:00Z')
  assert.equal(parseExpiry('2027-06-30T12:00+02:00'), '2027-06-30T10:00:00Z')
  for (const bad of ['2027-02-30', '2027-02-30T00:00:00Z', '2027-13-01', '30.6.2027', 'never']) {
    assert.equal(parseExpiry(bad), undefined, bad)
  }
})

test('a contact has an expiry, and an expiry a contact', () => {
  const faults: string[] = []
  assert.equal(toSecurityContact(['tel:1'], undefined, faults), null)
  assert.equal(toSecurityContact(undefined, '2027-06-30T00:00:00Z', []), null)
  assert.deepEqual(faults, [
    'PAYBELL_SECURITY_CONTACT needs PAYBELL_SECURITY_EXPIRES, until when it is good',
  ])
  assert.equal(toSecurityContact(undefined, undefined, []), null)
})

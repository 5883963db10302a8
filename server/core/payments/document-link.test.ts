import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sealer } from '../../store/secrets/sealing.ts'
import { contentDisposition, linkEndsAtMs, linkedText, parseLink } from './document-link.ts'

const EVENT = '01a1dd3c-539a-7000-8f71-5620eb01947e'
const ENDPOINT = '01a1dd3c-57d6-7000-9e6f-000000000006'
const LINKED = { eventId: EVENT, endpointId: ENDPOINT }

test('a link names its event and its endpoint, and nothing else can be one', () => {
  const text = linkedText(LINKED)
  assert.deepEqual(parseLink(`${text}.mac`), { ...LINKED, signature: 'mac' })
  for (const other of [
    '',
    'x',
    EVENT,
    `${text}.a.b`,
    `${text.toUpperCase()}.mac`,
    ` ${text}.mac`,
  ]) {
    assert.equal(parseLink(other), null, other)
  }
  const madeAtMs = 0x01a1dd3c539a
  assert.equal(linkEndsAtMs(LINKED, 30), madeAtMs + 30 * 86_400_000)
})

test('any master key vouches for its links; the oldest goes on making them, so that bodies keep their bytes', () => {
  const [old, young] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const text = linkedText(LINKED)
  const before = new Sealer([old])
  const both = new Sealer([young, old])
  const later = new Sealer([young])
  const made = before.signLink(text)
  assert.match(made, /^[\w-]{43}$/)
  assert.equal(both.signLink(text), made)
  assert.ok(both.isLinkSignature(text, made) && both.isLinkSignature(text, later.signLink(text)))
  assert.ok(!later.isLinkSignature(text, made))
  assert.ok(!before.isLinkSignature(linkedText({ ...LINKED, eventId: ENDPOINT }), made))
  for (const wrong of ['', made.slice(1), `${made}A`, made.toUpperCase()]) {
    assert.ok(!before.isLinkSignature(text, wrong))
  }
})

test('a name of any kind is a header that cannot be broken out of', () => {
  assert.equal(
    contentDisposition('a"b\r\nü%.pdf'),
    `attachment; filename="a_b____.pdf"; filename*=UTF-8''a_b__%C3%BC_.pdf`,
  )
  assert.equal(
    contentDisposition("it's (1)"),
    `attachment; filename="it's (1)"; filename*=UTF-8''it%27s%20%281%29`,
  )
})

test('regression: a name leads to no other folder', () => {
  for (const [name, safe] of [
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\windows\\win.ini', 'win.ini'],
    ['..', 'document'],
    ['a/', 'document'],
    ['.hidden', 'hidden'],
    ['a/..', 'document'],
    [' . ', 'document'],
    ['a:b<c>|d?*.pdf', 'a_b_c__d__.pdf'],
  ] as const) {
    assert.equal(
      contentDisposition(name),
      `attachment; filename="${safe}"; filename*=UTF-8''${encodeURIComponent(safe)}`,
      name,
    )
  }
})

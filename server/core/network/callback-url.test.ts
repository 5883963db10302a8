import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  FORBIDDEN_IPV4,
  ipv4Spellings,
  ipv6Spellings,
} from '../../../test/support/forbidden-addresses.ts'
import { checkCallbackUrl } from './callback-url.ts'
import type { TargetPolicy } from './network-rules.ts'

const PRODUCTION: TargetPolicy = { loopbackAllowed: false, allowedNetworks: [] }
const SANDBOX: TargetPolicy = { loopbackAllowed: true, allowedNetworks: [] }

function codeOf(text: string, policy = PRODUCTION): string | null {
  const check = checkCallbackUrl(text, policy)
  return check.ok ? null : check.code
}

test('ordinary callback addresses are accepted', () => {
  const good = [
    'https://example.com',
    'https://example.com/',
    'HTTPS://Example.COM/Callbacks?token=1',
    'https://hooks.example.co.uk:8443/a/b?c=d&e=%20',
    'https://example.com:65535/',
    'https://example.com:/',
    'https://example.com./',
    'https://example.test/',
    'https://a.example/',
    'https://bücher.example/über?ä=ö',
    'https://xn--bcher-kva.example/',
    'https://a_b.example.com/',
    'https://r3---sn-x.example.com/',
    'https://8.8.8.8/',
    'https://134744072/',
    'https://[2606:4700:4700::1111]:444/x',
    'https://127.0.0.1.nip.example/', // a name: what it resolves to is judged when sending
    'https://example.com/@x',
    'https://example.com/?q=@',
    `https://example.com/${'x'.repeat(2048 - 20)}`,
  ]
  for (const text of good) assert.equal(codeOf(text), null, text)
})

test('S1: raw text that new URL would repair is refused before it can', () => {
  const bad = [
    '',
    ' ',
    'example.com',
    '//example.com/',
    '/callbacks',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https://',
    'https:// example.com',
    'https://\texample.com',
    ' https://example.com',
    '\0https://example.com',
    'https://example.com ',
    'https://example.com/a b',
    'https://exam\nple.com/',
    'https://example.com/\r\nHost:x',
    'https://example.com/\u0000',
    'https://example.com/\u007f',
    'https://example.com/\u0085',
    'https://example.com/\u00a0',
    'https://example.com/\ufeff',
    'https://example.com/\ud800',
    'https:\\\\example.com',
    'https://example.com\\@evil.example',
    'https://example.com/a\\b',
    'https://:443/',
    'https://exa<mple.com/',
    'https://example.com:x/',
    'https://example.com:-1/',
    'https://[::1',
    'https://[example.com]/',
    'https://%00.example.com/',
    'https://1.2.3.4.5/',
    'https://1.2.3.256/',
  ]
  for (const text of bad) assert.equal(codeOf(text), 'malformed-url', JSON.stringify(text))
})

test('S8: http:// and every other scheme is answered with https-required', () => {
  for (const text of [
    'http://example.com/',
    'HTTP://8.8.8.8',
    'ftp://example.com/',
    'javascript:1',
  ]) {
    assert.equal(codeOf(text), 'https-required', text)
  }
  for (const text of ['file:///etc/passwd', 'gopher://x.example/', 'wss://x.example/', 'data:,x']) {
    assert.equal(codeOf(text, SANDBOX), 'https-required', text)
  }
  const elsewhere = [
    'example.com',
    '10.0.0.1',
    '0.0.0.0',
    'x.localhost',
    '[::ffff:127.0.0.1]',
    '[::]',
  ]
  for (const host of elsewhere)
    assert.equal(codeOf(`http://${host}/`, SANDBOX), 'https-required', host)
})

test('user info and fragments are refused, empty ones too', () => {
  for (const host of [
    'user:pass@example.com',
    'user@example.com',
    '@example.com',
    ':@example.com',
  ]) {
    assert.equal(codeOf(`https://${host}/`), 'user-info', host)
  }
  assert.equal(codeOf('https://example.com@evil.example/'), 'user-info')
  for (const tail of ['#', '#x', '/#', '/?a#b', '#@x']) {
    assert.equal(codeOf(`https://example.com${tail}`), 'fragment', tail)
  }
})

test('a port is 1 to 65535', () => {
  for (const port of ['0', '00', '65536', '99999', '99999999999999999999']) {
    assert.equal(codeOf(`https://example.com:${port}/`), 'invalid-port', port)
    assert.equal(codeOf(`https://[2606:4700::1]:${port}/`), 'invalid-port', port)
  }
  for (const port of ['1', '22', '25', '443', '6379', '65535', '0443']) {
    assert.equal(codeOf(`https://example.com:${port}/`), null, port)
  }
})

test('2048 characters is the limit, as given and as percent-encoded', () => {
  assert.equal(codeOf(`https://example.com/${'x'.repeat(2048 - 19)}`), 'too-long')
  // The characters that were given count, however long percent-encoding makes them.
  assert.equal(codeOf(`https://example.com/${'é'.repeat(400)}`), null)
  assert.equal(codeOf(`https://example.com/${'é'.repeat(300)}`), null)
})

test('S1: names of this machine, this network and this cloud are refused', () => {
  const bare = [
    'localhost',
    'local',
    'internal',
    'intranet',
    'metadata',
    'com',
    '-'.replace('-', 'a'),
  ]
  const names = [
    ...bare,
    'x.localhost',
    'LOCALHOST',
    'localhost.',
    'lo\u00adcalhost', // a soft hyphen, which new URL removes
    'ｌｏｃａｌｈｏｓｔ',
    '%6cocalhost',
    'printer.local',
    'a.b.local.',
    'localhost.localdomain',
    'db.internal',
    'metadata.google.internal',
    'instance-data.ec2.internal',
    'router.home.arpa',
    'home.arpa',
    'x.onion',
    'metadata.goog',
    'metadata.tencentyun.com',
  ]
  for (const host of names) assert.equal(codeOf(`https://${host}/`), 'forbidden-host', host)
  for (const host of [
    'mylocal.example',
    'notinternal.example',
    'local.example',
    'xlocalhost.example',
  ]) {
    assert.equal(codeOf(`https://${host}/`), null, host)
  }
})

test('host names that no DNS could hold are refused', () => {
  const long = Array.from({ length: 5 }, () => 'x'.repeat(51)).join('.')
  const bad = [
    'a..b',
    '.com',
    '-',
    'example.com..',
    '-a.example',
    'a-.example',
    `${'x'.repeat(64)}.example`,
  ]
  for (const host of [...bad, `${long}.example`, 'a!b.example', "a'b.example"]) {
    assert.equal(codeOf(`https://${host}/`), 'malformed-url', host)
  }
  assert.equal(codeOf(`https://${'x'.repeat(63)}.example/`), null)
})

const ALLOWED_IPV4 = [
  '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0',
  '168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255',
  '192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0',
  '192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0',
  '198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255',
].flatMap((line) => line.split(' '))

test('S1: every forbidden spelling is refused, and the neighbours just outside are accepted', () => {
  let count = 0
  const judge = (host: string, policy: TargetPolicy, expected: string | null) => {
    count += 1
    assert.equal(codeOf(`https://${host}/callbacks`, policy), expected, host)
  }
  for (const address of FORBIDDEN_IPV4) {
    for (const host of ipv4Spellings(address)) judge(host, PRODUCTION, 'non-public-address')
    for (const host of ipv6Spellings(address)) judge(host, PRODUCTION, 'non-public-address')
    for (const host of ipv6Spellings(address)) judge(host, SANDBOX, 'non-public-address')
  }
  for (const address of ALLOWED_IPV4) {
    for (const host of ipv4Spellings(address)) judge(host, PRODUCTION, null)
    for (const host of ipv6Spellings(address)) judge(host, PRODUCTION, 'non-public-address')
  }
  for (const host of ['127.1', '0', '0x7f.1', '017700000001', '2130706433', '①②⑦.⓪.⓪.①', '[::]']) {
    judge(host, PRODUCTION, 'non-public-address')
  }
  assert.ok(count >= 400, `${count} cases`)
})

test('S9: the sandbox relaxes localhost, 127.0.0.0/8 and [::1], and nothing else', () => {
  const local = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '127.9.9.9',
  ]
  for (const host of [...local, '[::1]', '[0:0:0:0:0:0:0:1]']) {
    for (const scheme of ['http', 'https']) {
      assert.equal(codeOf(`${scheme}://${host}:8080/x`, SANDBOX), null, host)
    }
    assert.notEqual(codeOf(`https://${host}:8080/x`, PRODUCTION), null, host)
    assert.equal(codeOf(`http://${host}:8080/x`, PRODUCTION), 'https-required', host)
  }
  for (const host of ['[::ffff:127.0.0.1]', '0.0.0.0', '10.0.0.1', '[::]', '169.254.169.254']) {
    assert.equal(codeOf(`https://${host}/`, SANDBOX), 'non-public-address', host)
  }
  for (const host of ['x.localhost', 'printer.local', 'intranet']) {
    assert.equal(codeOf(`https://${host}/`, SANDBOX), 'forbidden-host', host)
  }
  assert.equal(codeOf('http://localhost:0/', SANDBOX), 'invalid-port')
  assert.equal(codeOf('http://user@localhost/', SANDBOX), 'user-info')
})

test('S9: an allowed network opens its literals, over https only', () => {
  const policy = { loopbackAllowed: false, allowedNetworks: ['10.20.0.0/16'] }
  assert.equal(codeOf('https://10.20.3.4/', policy), null)
  assert.equal(codeOf('http://10.20.3.4/', policy), 'https-required')
  assert.equal(codeOf('https://10.21.0.0/', policy), 'non-public-address')
})

test('two spellings of one address have one href', () => {
  const hrefs = ['https://example.com', 'HTTPS://EXAMPLE.com:443/', 'https://ex\u00adample.com/']
  const found = hrefs.map((text) => checkCallbackUrl(text, PRODUCTION))
  for (const check of found) assert.equal(check.ok && check.href, 'https://example.com/')
})

test('whatever is accepted is https to a dotted name or a public literal, and parses to itself', () => {
  const pieces = fc.constantFrom(
    'https://',
    'http://',
    'a',
    '.',
    '..',
    ':',
    '0',
    '443',
    '/',
    '?',
    '@',
    '\\',
  )
  const more = fc.constantFrom(
    '127.0.0.1',
    'example.com',
    'localhost',
    '[::1]',
    '%',
    '\t',
    ' ',
    '#',
    'é',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, more), { maxLength: 8 }), (parts) => {
      const check = checkCallbackUrl(`https://${parts.join('')}`, PRODUCTION)
      if (!check.ok) return
      const url = new URL(check.href)
      assert.equal(url.href, check.href)
      assert.equal(url.protocol, 'https:')
      assert.equal(url.username + url.password + url.hash, '')
      assert.match(url.hostname, /\./)
      assert.doesNotMatch(url.hostname, /^127(\.\d+){3}$|(^|\.)localhost$/)
    }),
    { numRuns: 3_000 },
  )
})

test('no detail repeats the URL', () => {
  const secret = 'token=0123456789abcdef'
  const bad = [
    'http://example.com/',
    'https://10.0.0.1/',
    'https://x.local/',
    'https://a@b.example/',
  ]
  for (const url of [...bad, 'https://example.com/#', 'https://example.com:0/', 'https://a b/']) {
    const check = checkCallbackUrl(`${url}?${secret}`, PRODUCTION)
    assert.ok(!check.ok && !check.detail.includes(secret) && check.detail.endsWith('.'))
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isAddress,
  isAllowedAddress,
  isLoopbackAddress,
  parseNetworks,
  type TargetPolicy,
  toAddressGroup,
} from './network-rules.ts'

const PRODUCTION: TargetPolicy = { loopbackAllowed: false, allowedNetworks: [] }
const SANDBOX: TargetPolicy = { loopbackAllowed: true, allowedNetworks: [] }

// The ranges of the specification, written out a second time on purpose.
const REFUSED_IPV4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
const IPV6_ALLOWED: [bigint, number] = [0x2000n << 112n, 3]
const IPV6_REFUSED_INSIDE: [bigint, number][] = [
  [0x2001n << 112n, 23],
  [0x20010db8n << 96n, 32],
  [0x2002n << 112n, 16],
  [0x3fffn << 112n, 20],
]

function ipv4Number(text: string): number {
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function ipv4Text(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}

function ipv6Text(value: bigint): string {
  return Array.from({ length: 8 }, (_, i) =>
    ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  ).join(':')
}

function isRefusedIpv4(value: number): boolean {
  return REFUSED_IPV4.some(([first, bits]) => {
    const start = ipv4Number(first)
    return value >= start && value < start + 2 ** (32 - bits)
  })
}

function isInRange(value: bigint, [first, bits]: [bigint, number]): boolean {
  return value >= first && value < first + (1n << BigInt(128 - bits))
}

function isAllowedIpv6(value: bigint): boolean {
  if (!isInRange(value, IPV6_ALLOWED)) return false
  return !IPV6_REFUSED_INSIDE.some((range) => isInRange(value, range))
}

test('S1: the first and last address of every IPv4 range is refused, its neighbours are not', () => {
  for (const [first, bits] of REFUSED_IPV4) {
    const start = ipv4Number(first)
    const end = start + 2 ** (32 - bits) - 1
    for (const value of [start - 1, start, start + 1, end - 1, end, end + 1]) {
      if (value < 0 || value > 0xffffffff) continue
      const text = ipv4Text(value)
      assert.equal(isAllowedAddress(text, PRODUCTION), !isRefusedIpv4(value), text)
    }
  }
  assert.equal(isAllowedAddress('9.255.255.255', PRODUCTION), true)
  assert.equal(isAllowedAddress('11.0.0.0', PRODUCTION), true)
  assert.equal(isAllowedAddress('168.63.129.15', PRODUCTION), true)
  assert.equal(isAllowedAddress('168.63.129.16', PRODUCTION), false)
})

test('S1: the first and last address of every IPv6 range is judged like the specification', () => {
  for (const [first, bits] of [IPV6_ALLOWED, ...IPV6_REFUSED_INSIDE]) {
    const end = first + (1n << BigInt(128 - bits)) - 1n
    for (const value of [first - 1n, first, first + 1n, end - 1n, end, end + 1n]) {
      const text = ipv6Text(value)
      assert.equal(isAllowedAddress(text, PRODUCTION), isAllowedIpv6(value), text)
    }
  }
})

test('S1: an IPv6 form that carries a private IPv4 address, or is local, is refused', () => {
  const refused = [
    '::',
    '::1',
    '::127.0.0.1', // compatible
    '::ffff:127.0.0.1', // mapped
    '::ffff:8.8.8.8', // mapped, even where the inside is public
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:127.0.0.1',
    '::ffff:0:127.0.0.1', // SIIT
    '64:ff9b::127.0.0.1', // NAT64
    '64:ff9b::7f00:1',
    '64:ff9b:1::a00:1',
    '100::1',
    '2001::1', // Teredo
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::', // 6to4 of 127.0.0.1
    '2002:a00:1::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254', // a metadata service
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'FE80::1',
    'FF0E::1',
  ]
  for (const text of refused) assert.equal(isAllowedAddress(text, PRODUCTION), false, text)
  for (const text of [
    '2606:4700:4700::1111',
    '2A00:1450:4001:81B::200E',
    '2001:200::',
    '3ffe::1',
  ]) {
    assert.equal(isAllowedAddress(text, PRODUCTION), true, text)
  }
})

test('text that is not a plainly spelt address is refused', () => {
  const odd = [
    '',
    ' ',
    '127.1',
    '0x7f.0.0.1',
    '010.0.0.1',
    '8.8.8',
    '8.8.8.8.',
    ' 8.8.8.8',
    '8.8.8.8 ',
  ]
  odd.push(
    '2130706433',
    '8.8.8.256',
    '[2606:4700::1]',
    '2606:4700::1%1',
    'example.com',
    ':::',
    '1::2::3',
  )
  for (const text of odd) {
    assert.equal(isAddress(text), false, text)
    assert.equal(isAllowedAddress(text, SANDBOX), false, text)
  }
})

test('any IPv4 address is judged as the specification judges it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), (value) => {
      assert.equal(isAllowedAddress(ipv4Text(value), PRODUCTION), !isRefusedIpv4(value))
    }),
    { numRuns: 2_000 },
  )
})

test('any IPv6 address is judged as the specification judges it, in every spelling', () => {
  const anywhere = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })
  const near = fc
    .tuple(
      fc.constantFrom(0x2001n, 0x2002n, 0x3fffn, 0x2000n),
      fc.bigInt({ min: 0n, max: (1n << 112n) - 1n }),
    )
    .map(([head, tail]) => (head << 112n) | tail)
  fc.assert(
    fc.property(fc.oneof(anywhere, near), (value) => {
      const long = ipv6Text(value)
      const short = new URL(`http://[${long}]`).hostname.slice(1, -1)
      assert.equal(isAllowedAddress(long, PRODUCTION), isAllowedIpv6(value))
      assert.equal(isAllowedAddress(short, PRODUCTION), isAllowedIpv6(value))
      assert.equal(isAllowedAddress(long.toUpperCase(), PRODUCTION), isAllowedIpv6(value))
    }),
    { numRuns: 2_000 },
  )
})

test('S9: the sandbox opens 127.0.0.0/8 and ::1, and nothing else', () => {
  for (const text of ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']) {
    assert.equal(isAllowedAddress(text, SANDBOX), true, text)
    assert.equal(isLoopbackAddress(text), true, text)
    assert.equal(isAllowedAddress(text, PRODUCTION), false, text)
  }
  for (const text of ['::ffff:127.0.0.1', '0.0.0.0', '10.0.0.1', '::', '169.254.169.254', '::2']) {
    assert.equal(isAllowedAddress(text, SANDBOX), false, text)
    assert.equal(isLoopbackAddress(text), false, text)
  }
})

test('S9: an allowed network opens its own addresses in its own family only', () => {
  const policy = { loopbackAllowed: false, allowedNetworks: ['10.20.0.0/16', 'fd12::/32'] }
  for (const text of ['10.20.0.0', '10.20.255.255', 'fd12::1', '8.8.8.8']) {
    assert.equal(isAllowedAddress(text, policy), true, text)
  }
  for (const text of ['10.19.255.255', '10.21.0.0', '::ffff:10.20.0.1', 'fd13::1', '127.0.0.1']) {
    assert.equal(isAllowedAddress(text, policy), false, text)
  }
})

test('a list of networks is read whole, and every fault in it is reported', () => {
  assert.deepEqual(parseNetworks(''), { networks: [], faults: [] })
  assert.deepEqual(parseNetworks(' 10.0.0.0/8 ,, fd00::/8,192.168.1.7/32 '), {
    networks: ['10.0.0.0/8', 'fd00::/8', '192.168.1.7/32'],
    faults: [],
  })
  const bad = ['10.0.0.0', '10.0.0.0/33', '10.0.0.1/8', '0.0.0.0/0', '::/0', 'fd00::1/8', 'x/8']
  bad.push('10.0/8', '10.0.0.0/-1', '10.0.0.0/08x', '1.2.3.4/', 'fe80::%1/64')
  for (const entry of bad) {
    const { networks, faults } = parseNetworks(`10.0.0.0/8,${entry}`)
    assert.deepEqual(networks, ['10.0.0.0/8'], entry)
    assert.equal(faults.length, 1, entry)
  }
})

test('a sender is an IPv4 address, or the /64 of an IPv6 address', () => {
  for (const [address, group] of [
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['unknown', 'unknown'],
  ] as const) {
    assert.equal(toAddressGroup(address), group)
  }
})

// Which IP addresses a callback may go to. Registration and sending ask the same question here, so
// that neither is laxer than the other. What is not plainly a public unicast address is refused.
// ipaddr.js is the one library that core imports: it is pure, and IP parsing should not be hand-written.

import ipaddr from 'ipaddr.js'

export interface TargetPolicy {
  /** The sandbox may call receivers on its own machine: 127.0.0.0/8 and ::1, nothing else. */
  loopbackAllowed: boolean
  /** CIDRs of private networks that the operator opened on purpose; empty almost everywhere. */
  allowedNetworks: readonly string[]
}

// IANA's special-purpose registry (RFC 6890 and its updates), which is more than "private": no receiver has
// a benchmarking or documentation address either.
const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's host agent: it looks public, and answers with credentials.
  '168.63.129.16/32',
].map((cidr) => ipaddr.IPv4.parseCIDR(cidr))

// Only global unicast is allowed. That one rule drops mapped, compatible, SIIT, NAT64, unique-local,
// link-local, site-local and multicast forms, each of which can hide a private IPv4 address.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
const REFUSED_IPV6 = [
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32',
  '2002::/16', // 6to4 carries an IPv4 address inside
  '3fff::/20',
].map((cidr) => ipaddr.IPv6.parseCIDR(cidr))

const LOOPBACK_IPV4 = ipaddr.IPv4.parseCIDR('127.0.0.0/8')
const LOOPBACK_IPV6 = ipaddr.IPv6.parseCIDR('::1/128')

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

/** True for an address that a callback may be sent to; text that is no address is refused. */
export function isAllowedAddress(text: string, policy: TargetPolicy): boolean {
  const address = toAddress(text)
  if (address === null) return false
  if (policy.loopbackAllowed && isLoopback(address)) return true
  return isPublic(address) || policy.allowedNetworks.some((cidr) => isInside(address, cidr))
}

/** True for 127.0.0.0/8 and ::1 themselves. ::ffff:127.0.0.1 is another spelling, and not one. */
export function isLoopbackAddress(text: string): boolean {
  const address = toAddress(text)
  return address !== null && isLoopback(address)
}

/** True for text that is an IPv4 address in four decimal parts, or an IPv6 address without brackets. */
export function isAddress(text: string): boolean {
  return toAddress(text) !== null
}

/**
 * Who is probably one and the same sender: an IPv4 address, or the /64 of an IPv6 address, of which a
 * single machine may use any.
 */
export function toAddressGroup(text: string): string {
  const address = toAddress(text)
  if (address === null || address.kind() === 'ipv4') return text
  const v6 = address as ipaddr.IPv6
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address().toString()
  return `${v6.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/**
 * Reads a comma-separated list of CIDRs. A network with host bits set is most likely a typing
 * mistake, and a /0 would switch the guard off: both are faults. Faults name the entry, which is
 * an address range and no secret.
 */
export function parseNetworks(list: string): { networks: string[]; faults: string[] } {
  const networks: string[] = []
  const faults: string[] = []
  for (const entry of list.split(',').map((part) => part.trim())) {
    if (entry === '') continue
    const fault = networkFault(entry)
    if (fault === null) networks.push(entry)
    else faults.push(`${JSON.stringify(entry)} ${fault}`)
  }
  return { networks, faults }
}

function networkFault(entry: string): string | null {
  const network = toNetwork(entry)
  if (network === null) return 'is not a network in CIDR notation, such as 10.20.0.0/16.'
  const [address, bits] = network
  if (bits === 0) return 'would allow every address: name the networks you need.'
  return hasHostBits(address, bits) ? `has bits set beyond its first ${bits}.` : null
}

function hasHostBits(address: Address, bits: number): boolean {
  return address.toByteArray().some((byte, index) => {
    const kept = Math.min(Math.max(bits - index * 8, 0), 8)
    return (byte & (0xff >> kept)) !== 0
  })
}

// ipaddr.js reads `010.0.0.1` and `127.1` as inet_aton does. Addresses come here only from a URL
// that was parsed, from DNS or from a socket, all of which spell them plainly: refuse the rest.
function toAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (ipaddr.IPv6.isValid(text) && !text.includes('%')) return ipaddr.IPv6.parse(text)
  return null
}

function toNetwork(cidr: string): Network | null {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) return ipaddr.IPv4.parseCIDR(cidr)
  if (ipaddr.IPv6.isValidCIDR(cidr) && !cidr.includes('%')) return ipaddr.IPv6.parseCIDR(cidr)
  return null
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return !REFUSED_IPV4.some((range) => address.match(range))
  return address.match(GLOBAL_UNICAST) && !REFUSED_IPV6.some((range) => address.match(range))
}

function isLoopback(address: Address): boolean {
  return address.match(address instanceof ipaddr.IPv4 ? LOOPBACK_IPV4 : LOOPBACK_IPV6)
}

function isInside(address: Address, cidr: string): boolean {
  const network = toNetwork(cidr)
  // Families are never mixed: 10.0.0.0/8 opens no ::ffff:10.0.0.1.
  return network !== null && network[0].kind() === address.kind() && address.match(network)
}

// Addresses that callbacks, and requests for tokens, must never reach, in all the spellings that new URL reads as them.

export const FORBIDDEN_IPV4 = [
  '0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.0.0.1',
  '127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0',
  '172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255 192.31.196.0 192.31.196.255',
  '192.52.193.0 192.52.193.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 192.175.48.0',
  '192.175.48.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255',
  '224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255',
].flatMap((line) => line.split(' '))

export function ipv4Spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const circled = (digit: string) =>
    digit === '0' ? '⓪' : String.fromCodePoint(0x245f + Number(digit))
  return [
    address,
    `${address}.`,
    `${whole}`,
    `0x${whole.toString(16)}`,
    `0${whole.toString(8)}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    [a, b, c, d].map((part) => `0x${part.toString(16)}`).join('.'),
    [a, b, c, d].map((part) => `0${part.toString(8)}`).join('.'),
    address.replace(/\d/g, circled),
    address.replace(/\d/g, (digit) => `%3${digit}`),
    address.replaceAll('.', '。'),
  ]
}

export function ipv6Spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  return [
    `[::ffff:${address}]`,
    `[::FFFF:${tail}]`,
    `[0:0:0:0:0:ffff:${tail}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${tail}]`,
    `[2002:${tail}::1]`,
  ]
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pemBlocks } from './pem.ts'

const block = (label: string, text = 'AAAA\n') =>
  `-----BEGIN ${label}-----\n${text}-----END ${label}-----`

test('blocks are found in the text around them, with their own lines alone', () => {
  const headers = 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n'
  const blocks = [block('CERTIFICATE'), block('RSA PRIVATE KEY', headers)]
  assert.deepEqual(pemBlocks(`a note\r\n${blocks.join('\n--- and ---\n')} -----END X-----`), [
    { label: 'CERTIFICATE', text: `${blocks[0]}\n` },
    { label: 'RSA PRIVATE KEY', text: `${blocks[1]}\n` },
  ])
  assert.deepEqual(pemBlocks('-----BEGIN certificate-----'), [])
})

test('regression: a block without its end is not passed over', () => {
  const cut = '-----BEGIN CERTIFICATE-----\nAAAA\n'
  assert.deepEqual(
    pemBlocks(cut + block('CERTIFICATE') + cut + block('PRIVATE KEY') + cut).map(
      ({ label }) => label,
    ),
    ['CERTIFICATE', 'CERTIFICATE', 'CERTIFICATE', 'PRIVATE KEY', 'CERTIFICATE'],
  )
})

test('regression: thirty times the beginnings take about thirty times as long, not a thousand times', () => {
  const cpuOf = (count: number) => {
    const text = '-----BEGIN CERTIFICATE-----\n'.repeat(count)
    const start = process.cpuUsage()
    assert.equal(pemBlocks(text).length, count)
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  cpuOf(1_000)
  const small = Math.min(...Array.from({ length: 5 }, () => cpuOf(1_000)))
  const large = Math.min(...Array.from({ length: 3 }, () => cpuOf(30_000)))
  assert.ok(large < 30 * small * 8, `${small} µs and ${large} µs`)
})

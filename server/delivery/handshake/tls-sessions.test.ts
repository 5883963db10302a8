import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { TlsSessions } from './tls-sessions.ts'

const MINUTE_MS = 60_000

/** Of a full handshake, with a certificate that lives for long. */
function socketWith(notAfter: string) {
  const certificate = { valid_to: notAfter }
  const methods = { isSessionReused: () => false, getPeerCertificate: () => certificate }
  return Object.assign(new EventEmitter(), methods) as unknown as TLSSocket
}

test('regression: an hour counts from the handshake, however late its first ticket comes', () => {
  let nowMs = 0
  const sessions = new TlsSessions({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  const socket = socketWith('Dec 31 23:59:59 2049 GMT')
  sessions.keepFrom(socket, 'key', null)
  nowMs = 5 * MINUTE_MS
  socket.emit('session', Buffer.from('a ticket'))
  nowMs = 59 * MINUTE_MS
  assert.ok(sessions.find('key'))
  nowMs = 60 * MINUTE_MS
  assert.equal(sessions.find('key'), null)
})

test('a session whose certificate says no end is not taken up', () => {
  const sessions = new TlsSessions({ nowMs: () => 1, monotonicMs: () => 1 })
  const socket = socketWith('')
  sessions.keepFrom(socket, 'key', null)
  socket.emit('session', Buffer.from('a ticket'))
  assert.equal(sessions.find('key'), null)
})

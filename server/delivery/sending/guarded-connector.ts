// The only way out to the network. Every socket passes three checks: an IP literal before connecting
// (a connector's `lookup` is not called for one), a name's addresses in the look-up, which pins them,
// and the peer's address once connected, before a byte is sent. Connecting is over within its limit,
// DNS, TCP and TLS together.

import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { Outcome } from '../../core/delivery/delivery.ts'
import { type DebtPolicy, HandshakeDebts } from '../../core/network/handshake-debts.ts'
import { isAllowedAddress, type TargetPolicy } from '../../core/network/network-rules.ts'
import { HandshakeRefused } from '../handshake/gated-tls.ts'
import { createDial, type DialTarget } from './dial.ts'
import { isOwnFailure, isOwnLookupFailure, OwnFailure } from './own-failure.ts'
import type { ResolveFn } from './resolver.ts'
import { TimeLimit } from './time-limit.ts'
import { reasonOfRefusal, toTlsReason } from './tls-failure.ts'

/** Why there is no connection. */
export class ConnectFailure extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome, cause?: unknown) {
    super('no connection', { cause })
    this.name = 'ConnectFailure'
    this.outcome = outcome
  }
}

export interface ConnectorOptions {
  policy: TargetPolicy
  resolve: ResolveFn
  nowMs: () => number
  monotonicMs: () => number
  connectTimeoutMs: number
  /** How much the handshakes with a client's receivers may cost. */
  debtPolicy: DebtPolicy
  /** Of connections whose endpoint has no settings of its own. */
  secureContext: SecureContext
}

/** Calls back once, also when the socket that it returns is destroyed before; with null it has called back already. */
export type ConnectFn = (
  target: DialTarget,
  callback: (error: Error | null, socket: Socket | null) => void,
) => Socket | null

const BLOCKED: Outcome = { kind: 'blocked', reason: 'blocked-address' }
const RESET: Outcome = { kind: 'unreachable', reason: 'connection-reset' }
const TOO_COSTLY: Outcome = { kind: 'unreachable', reason: 'tls-too-costly' }
const TIMEOUT: Outcome = { kind: 'unreachable', reason: 'timeout' }

export function createGuardedConnector(options: ConnectorOptions): ConnectFn {
  const { policy, nowMs, monotonicMs, connectTimeoutMs } = options
  const dial = createDial({
    lookup: createGuardedLookup(policy, options.resolve),
    secureContext: options.secureContext,
    clocks: { nowMs, monotonicMs },
  })
  const debts = new HandshakeDebts(options.debtPolicy)

  return (target, callback) => {
    const host = withoutFinalDot(target.hostname)
    const rules = policyFor(host, policy)
    if (isIP(host) !== 0 && !isAllowedAddress(host, rules)) {
      callback(new ConnectFailure(BLOCKED), null)
      return null
    }
    const { protocol, port, clientKey } = target
    const origin = `${protocol} ${host} ${port}`
    if (debts.isPaused(clientKey, origin, monotonicMs())) {
      callback(new ConnectFailure(TOO_COSTLY), null)
      return null
    }
    // TCP is through: what fails now fails in TLS.
    let isConnected = false
    const limit = new TimeLimit(monotonicMs, () => socket.destroy(new ConnectFailure(TIMEOUT)))
    // The final dot is dropped from SNI, as RFC 6066 §3 asks; the look-up is qualified without it.
    const servername = isIP(host) === 0 ? host : undefined
    const { socket, tcp } = dial({ ...target, hostname: host }, servername, (ms) => {
      debts.charge(clientKey, origin, ms, monotonicMs())
    })
    limit.set(monotonicMs() + connectTimeoutMs)
    // First among the listeners: TLS begins its handshake in one that was added before.
    tcp.prependOnceListener('connect', () => {
      isConnected = true
      const peer = tcp.remoteAddress
      // A peer that is gone already has no address any more.
      if (peer === undefined) socket.destroy(new ConnectFailure(RESET))
      else if (!isAllowedAddress(peer, rules)) socket.destroy(new ConnectFailure(BLOCKED))
    })
    let isTold = false
    const fail = (failure: Error) => {
      limit.clear()
      if (isTold) return
      isTold = true
      callback(failure, null)
    }
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      limit.clear()
      // Destroyed by the check above: its error is about to come.
      if (socket.destroyed) return
      isTold = true
      callback(null, socket)
    })
    // It stays: an error without a listener ends the process.
    socket.on('error', (error) => fail(toFailure(error, isConnected)))
    // Without an error, too: no one waits for a socket that is gone.
    socket.once('close', () => fail(new ConnectFailure(RESET)))
    return socket
  }
}

type LookupCallback = (
  error: Error | null,
  address: string | LookupAddress[],
  family?: number,
) => void

/** Resolves once for each connection. What it hands on is what is dialled: no second lookup follows. */
function createGuardedLookup(policy: TargetPolicy, resolve: ResolveFn) {
  return (name: string, options: LookupOptions, callback: LookupCallback): void => {
    const rules = policyFor(name, policy)
    const found = isSandboxLocalhost(name, policy)
      ? // By hand: offline there is no name server to ask, and the hosts file is not read.
        Promise.resolve(['127.0.0.1', '::1'])
      : resolve(name)
    found
      .then((answers) => {
        const allowed = answers.filter((address) => isAllowedAddress(address, rules))
        const addresses = allowed.map((address) => ({ address, family: isIP(address) }))
        const [first] = addresses
        if (answers.length === 0) throw new Error('the name has no address')
        if (first === undefined) throw new ConnectFailure(BLOCKED)
        if (options.all) callback(null, addresses)
        else callback(null, first.address, first.family)
      })
      .catch((error) => callback(toLookupFailure(error), []))
  }
}

function toLookupFailure(error: Error): ConnectFailure | OwnFailure {
  if (error instanceof ConnectFailure) return error
  if (isOwnLookupFailure(error)) return new OwnFailure(error)
  return new ConnectFailure({ kind: 'unreachable', reason: 'dns-error' }, error)
}

// Loopback is relaxed for `localhost` and for literals. A name that some DNS answers with 127.0.0.1
// is refused in the sandbox too.
function policyFor(host: string, policy: TargetPolicy): TargetPolicy {
  if (!policy.loopbackAllowed || isIP(host) !== 0 || isSandboxLocalhost(host, policy)) return policy
  return { ...policy, loopbackAllowed: false }
}

function isSandboxLocalhost(host: string, policy: TargetPolicy): boolean {
  return policy.loopbackAllowed && host === 'localhost'
}

function withoutFinalDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}

function toFailure(error: Error, isConnected: boolean): ConnectFailure | OwnFailure {
  if (error instanceof ConnectFailure || error instanceof OwnFailure) return error
  if (isOwnFailure(error)) return new OwnFailure(error)
  if (error instanceof HandshakeRefused) {
    return new ConnectFailure({ kind: 'unreachable', reason: reasonOfRefusal(error) }, error)
  }
  const code = codeOf(error)
  // Of a name's several addresses one that did not answer is enough: the others would have been tried again.
  const isSlow =
    error instanceof AggregateError && error.errors.some((one) => codeOf(one) === 'ETIMEDOUT')
  if (code === 'ETIMEDOUT' || isSlow) return new ConnectFailure(TIMEOUT, error)
  const isReset = code === 'ECONNRESET' || code === 'EPIPE'
  const reason = isReset ? 'connection-reset' : isConnected ? toTlsReason(code) : 'connect-error'
  return new ConnectFailure({ kind: 'unreachable', reason }, error)
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return String(code ?? '')
}

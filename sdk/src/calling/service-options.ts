// Where the service is and how it is called: for clients, producers and operators alike.

import { VERSION } from '../plain/version.ts'
import type { TransportOptions } from './transport.ts'

export interface ServiceOptions {
  /** Such as `https://paybell.example.com`. */
  baseUrl: string
  /** Instead of the runtime's. */
  fetch?: typeof fetch | undefined
  /** Tries after the first one: 3 by default. */
  retries?: number | undefined
  /** For each try: 30,000 by default. */
  timeoutMs?: number | undefined
  /** Allows credentials to be sent over `http://` to another machine. */
  allowInsecureHttp?: boolean | undefined
  /** For tests: a number from 0 to 1. */
  random?: (() => number) | undefined
}

export interface Service {
  baseUrl: string
  transport: TransportOptions
  headers: Readonly<Record<string, string>>
}

export function readService(options: ServiceOptions): Service {
  return {
    baseUrl: readBaseUrl(options),
    transport: {
      // Called as a function: some runtimes refuse their own fetch as a method of another object.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      retries: options.retries ?? 3,
      timeoutMs: options.timeoutMs ?? 30_000,
      random: options.random ?? Math.random,
    },
    headers: { 'user-agent': `paybell-sdk/${VERSION}` },
  }
}

function readBaseUrl({ baseUrl, allowInsecureHttp }: ServiceOptions): string {
  if (!URL.canParse(baseUrl)) {
    throw new TypeError('baseUrl is missing or no URL: such as https://paybell.example.com')
  }
  const url = new URL(baseUrl)
  if (!isSafeForSecrets(url) && !(url.protocol === 'http:' && allowInsecureHttp)) {
    throw new TypeError(
      'baseUrl must be https://, because the secret goes there. In a network that you trust, set allowInsecureHttp.',
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** Over TLS, or to the same machine: no one on the way can read it. */
export function isSafeForSecrets({ protocol, hostname }: URL): boolean {
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isLocal)
}

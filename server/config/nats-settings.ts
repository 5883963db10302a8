// The settings of the NATS source, which have a meaning only together.

import type { SettingName } from './settings.ts'

export interface NatsSettings {
  /** nats:// or tls:// addresses of one cluster, perhaps with user and password, or a token. */
  urls: readonly string[]
  stream: string
  subject: string
  durable: string
  /** The content of a .creds file. */
  credentials: string | null
}

/** Null when NATS is not used. */
export function readNats(
  read: (name: SettingName) => string | undefined,
  faults: string[],
): NatsSettings | null {
  const url = read('PAYBELL_NATS_URL')
  const settings: NatsSettings = {
    urls: url?.split(',').map((text) => text.trim()) ?? [],
    stream: read('PAYBELL_NATS_STREAM') ?? '',
    subject: read('PAYBELL_NATS_SUBJECT') ?? '',
    durable: read('PAYBELL_NATS_DURABLE') ?? '',
    credentials: read('PAYBELL_NATS_CREDS') ?? null,
  }
  if (url === undefined) {
    if (settings.credentials !== null) {
      faults.push('PAYBELL_NATS_CREDS is set without PAYBELL_NATS_URL')
    }
    return null
  }
  if (!settings.urls.every((text) => /^(nats|tls):\/\/./.test(text) && URL.canParse(text))) {
    faults.push('PAYBELL_NATS_URL must be nats:// or tls:// addresses, comma-separated')
  }
  const NAME = /^[\w-]{1,255}$/
  for (const [name, text] of [
    ['PAYBELL_NATS_STREAM', settings.stream],
    ['PAYBELL_NATS_DURABLE', settings.durable],
  ]) {
    if (!NAME.test(text as string)) faults.push(`${name} must be letters, digits, _ and -`)
  }
  if (!isSourceSubject(settings.subject)) {
    faults.push(
      'PAYBELL_NATS_SUBJECT must be a subject that ends in >, * or an account, and does not take in paybell.dead',
    )
  }
  return settings
}

/** Dead letters must not come back as payments: they would circulate for ever. */
function isSourceSubject(text: string): boolean {
  const tokens = text.split('.')
  const last = tokens.pop() ?? ''
  if (!/^(>|\*|[\da-f-]{36})$/i.test(last)) return false
  if (!tokens.every((token) => token === '*' || /^[\w$-]+$/.test(token))) return false
  const dead = ['paybell', 'dead', 'account']
  const takesIn = [...tokens, last].every(
    (token, index) => token === '>' || token === '*' || token === dead[index],
  )
  return !(takesIn && (last === '>' ? tokens.length < 3 : tokens.length === 2))
}

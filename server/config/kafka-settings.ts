// The settings of the Kafka source, which have a meaning only together.

import type { SettingName } from './settings.ts'

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const

export interface KafkaSettings {
  /** Some brokers of one cluster, as host:port: they know the others. */
  brokers: readonly string[]
  topic: string
  group: string
  /** Null: in plain text. */
  tls: { extraCa: string | null } | null
  sasl: { mechanism: (typeof MECHANISMS)[number]; username: string; password: string } | null
}

/** Null when Kafka is not used. */
export function readKafka(
  read: (name: SettingName) => string | undefined,
  extraCa: string | null,
  faults: string[],
): KafkaSettings | null {
  const brokers = read('PAYBELL_KAFKA_BROKERS')
  if (brokers === undefined) {
    for (const name of SASL) {
      if (read(name) !== undefined) faults.push(`${name} is set without PAYBELL_KAFKA_BROKERS`)
    }
    return null
  }
  const settings: KafkaSettings = {
    brokers: brokers.split(',').map((text) => text.trim()),
    topic: read('PAYBELL_KAFKA_TOPIC') ?? '',
    group: read('PAYBELL_KAFKA_GROUP') ?? '',
    tls: readSwitch('PAYBELL_KAFKA_TLS', read, faults) ? { extraCa } : null,
    sasl: readSasl(read, faults),
  }
  if (settings.sasl?.mechanism === 'PLAIN' && settings.tls === null) {
    faults.push(
      `${SASL[0]} is PLAIN, which sends the password as it is: set PAYBELL_KAFKA_TLS=on, or use SCRAM-SHA-512`,
    )
  }
  if (!settings.brokers.every(isBroker)) {
    faults.push('PAYBELL_KAFKA_BROKERS must be host:port, comma-separated')
  }
  // Room is left for the name of the dead letters, within Kafka's 249 characters.
  if (!/^[\w.-]{1,244}$/.test(settings.topic) || /^\.{1,2}$/.test(settings.topic)) {
    faults.push('PAYBELL_KAFKA_TOPIC must be letters, digits, . _ and -, at most 244')
  }
  if (!/^[\w.-]{1,255}$/.test(settings.group)) {
    faults.push('PAYBELL_KAFKA_GROUP must be letters, digits, . _ and -')
  }
  return settings
}

const SASL = [
  'PAYBELL_KAFKA_SASL_MECHANISM',
  'PAYBELL_KAFKA_SASL_USERNAME',
  'PAYBELL_KAFKA_SASL_PASSWORD',
] as const satisfies readonly SettingName[]

function isBroker(text: string): boolean {
  const [, port] = /^(?:[\w.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(text) ?? []
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535
}

function readSwitch(
  name: SettingName,
  read: (name: SettingName) => string | undefined,
  faults: string[],
): boolean {
  const text = read(name)?.toLowerCase() ?? 'off'
  if (!['on', 'off', 'true', 'false'].includes(text)) faults.push(`${name} must be on or off`)
  return text === 'on' || text === 'true'
}

function readSasl(
  read: (name: SettingName) => string | undefined,
  faults: string[],
): KafkaSettings['sasl'] {
  const [wanted, username, password] = SASL.map(read)
  if (wanted === undefined) {
    for (const name of SASL) {
      if (read(name) !== undefined) faults.push(`${name} is set without ${SASL[0]}`)
    }
    return null
  }
  const mechanism = MECHANISMS.find((one) => one === wanted.toUpperCase())
  if (mechanism === undefined) {
    faults.push(`${SASL[0]} must be ${MECHANISMS.join(', ')}`)
    return null
  }
  if (username === undefined || password === undefined) {
    faults.push(`${SASL[0]} needs ${SASL[1]} and ${SASL[2]}`)
    return null
  }
  return { mechanism, username, password }
}

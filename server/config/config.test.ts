// The settings: what is shown of them, what loadConfig takes, and how it refuses the rest.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import {
  ConfigError,
  describeConfig,
  type Environment,
  loadConfig,
  type Mode,
  SETTINGS,
} from './config.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const OPERATOR_KEY = 'pbo_Zq3v8sT1xK7mB2nR5wY9cD4fG6hJ0aLe'
const DATABASE_URL = 'postgres://someone:a-canary@db.example.net/paybell'

/** The least that production starts with. */
const PRODUCTION = {
  DATABASE_URL,
  PAYBELL_MASTER_KEY: MASTER_KEY,
  PAYBELL_OPERATOR_KEY: OPERATOR_KEY,
}

function noFile(path: string): never {
  throw new Error(`unexpected: ${path}`)
}

function production(env: Environment = {}, readFile: (path: string) => string = noFile) {
  return loadConfig('production', { ...PRODUCTION, ...env }, readFile)
}

function sandbox(env: Environment = {}) {
  return loadConfig('sandbox', env, noFile)
}

function faultsOf(
  mode: Mode,
  env: Environment,
  readFile: (path: string) => string = noFile,
): readonly string[] {
  try {
    loadConfig(mode, env, readFile)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.faults
  }
  return []
}

/** The names that the faults begin with, in order. */
function faultyNames(mode: Mode, env: Environment): string[] {
  return faultsOf(mode, env).map((fault) => fault.split(' ', 1)[0] as string)
}

describe('.env.example', () => {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
  /** Each setting with the comment above it, as one line of prose. */
  const shown = [...text.matchAll(/((?:^# .*\n)+)^#([A-Z_]+)=(.*)$/gm)].map((match) => ({
    comment: (match[1] as string).replaceAll(/^# /gm, '').replaceAll(/\s+/g, ' ').trim(),
    name: match[2],
    fallback: match[3],
  }))

  test('shows every setting in the order of the table, with its default', () => {
    assert.deepEqual(
      shown.map(({ name, fallback }) => `${name}=${fallback}`),
      SETTINGS.map((setting) => `${setting.name}=${'fallback' in setting ? setting.fallback : ''}`),
    )
  })

  test('has every assignment commented out, so that a copy of it changes nothing', () => {
    assert.equal(text.match(/^[^#\n]/m), null)
    assert.equal(text.match(/^#[A-Z_]+=/gm)?.length, SETTINGS.length)
  })

  for (const [index, setting] of SETTINGS.entries()) {
    test(`says of ${setting.name} what the table says`, () => {
      const comment = shown[index]?.comment ?? ''
      assert.ok(comment.startsWith(setting.about), comment)
      const says = (phrase: string) => comment.includes(phrase)
      assert.equal(says('Required in production.'), 'required' in setting)
      assert.equal(says(`named by ${setting.name}_FILE.`), 'secret' in setting)
      assert.equal(says('Sandbox only'), 'sandboxOnly' in setting)
      const sandboxFallback = 'sandboxFallback' in setting ? setting.sandboxFallback : null
      assert.equal(/In the sandbox: (.*)\.$/.exec(comment)?.[1] ?? null, sandboxFallback)
    })
  }
})

describe('sign-in with the company', () => {
  const OIDC = {
    PAYBELL_OIDC_ISSUER: 'https://login.example.com/realms/one',
    PAYBELL_OIDC_CLIENT_ID: 'paybell',
    PAYBELL_OIDC_CLIENT_SECRET: 'a-canary',
    PAYBELL_OIDC_ROLES: 'payments-admins=admin, cn=ops,support=viewer',
  }

  test('is read in the order of the roles, and shows no secret', () => {
    const config = production({ ...OIDC, PAYBELL_OIDC_ROLES: 'cn=ops=admin, support=viewer' })
    assert.deepEqual(config.oidc, {
      issuer: OIDC.PAYBELL_OIDC_ISSUER,
      clientId: 'paybell',
      clientSecret: 'a-canary',
      roleClaim: 'groups',
      roles: [
        { group: 'cn=ops', role: 'admin' },
        { group: 'support', role: 'viewer' },
      ],
    })
    const { settings } = config
    assert.ok(!JSON.stringify([describeConfig(config), settings]).includes('a-canary'))
  })

  test('makes the operator key dispensable', () => {
    const { PAYBELL_OPERATOR_KEY: _, ...keyless } = PRODUCTION
    assert.deepEqual(faultyNames('production', keyless), ['PAYBELL_OPERATOR_KEY'])
    const env = { ...keyless, ...OIDC, PAYBELL_OIDC_ROLES: 'support=viewer' }
    assert.equal(loadConfig('production', env, noFile).operatorKey, null)
  })

  test('is refused by halves, without TLS, and with roles that there are not', () => {
    const ROLES = 'PAYBELL_OIDC_ROLES'
    const cases: [Environment, string][] = [
      [{ ...OIDC }, ROLES],
      [{ ...OIDC, [ROLES]: 'support=boss' }, ROLES],
      [{ ...OIDC, [ROLES]: 'a=admin,a=viewer' }, ROLES],
      [{ ...OIDC, [ROLES]: '=admin' }, ROLES],
      [{ ...OIDC, [ROLES]: undefined }, 'PAYBELL_OIDC_ISSUER'],
      [{ [ROLES]: 'a=admin' }, ROLES],
      [{ ...OIDC, [ROLES]: 'a=admin', PAYBELL_OIDC_CLIENT_ID: '' }, 'PAYBELL_OIDC_ISSUER'],
      [
        { ...OIDC, [ROLES]: 'a=admin', PAYBELL_OIDC_ISSUER: 'http://login.example.com' },
        'PAYBELL_OIDC_ISSUER',
      ],
    ]
    for (const [env, name] of cases) {
      assert.deepEqual(faultyNames('production', { ...PRODUCTION, ...env }), [name])
    }
  })
})

describe('defaults', () => {
  test('the sandbox starts with nothing set', () => {
    const { settings, ...values } = sandbox()
    assert.deepEqual(
      settings.map(({ name }) => name),
      SETTINGS.map(({ name }) => name),
    )
    assert.deepEqual(values, {
      mode: 'sandbox',
      host: '127.0.0.1',
      port: 8080,
      baseUrl: null,
      operatorPort: null,
      processes: null,
      oidc: null,
      dataDir: '.paybell',
      cell: 0,
      isCellNamed: false,
      cellAddress: null,
      databaseUrl: null,
      databaseConnections: 16,
      databaseWaitSeconds: 60,
      masterKeys: [],
      operatorKey: null,
      tokenTtlSeconds: 3600,
      sharedKeyLengthMin: 1,
      endpointsMax: 50,
      orderPatienceMs: 3_600_000,
      requestsPerSecond: 5000,
      retentionDays: 30,
      paymentRetentionDays: null,
      auditRetentionDays: null,
      documentLinkDays: 30,
      endpointRatePerSecond: null,
      allowedNetworks: [],
      egressAddresses: null,
      embedOrigins: [],
      consoleTheme: null,
      extraCa: null,
      trustedProxies: [],
      securityContact: null,
      drainSeconds: 0,
      noticeUrl: null,
      noticeKey: null,
      nats: null,
      kafka: null,
      sandboxSeed: 'terminal',
      timeScale: 1,
      logLevel: 'warn',
    })
  })

  test('production takes its own, and the three that are required', () => {
    const config = production()
    assert.equal(config.sharedKeyLengthMin, 16)
    assert.equal(config.requestsPerSecond, 200)
    assert.equal(config.logLevel, 'info')
    assert.equal(config.databaseUrl, DATABASE_URL)
    assert.equal(config.operatorKey, OPERATOR_KEY)
    assert.deepEqual(config.masterKeys, [Buffer.from(MASTER_KEY, 'base64')])
  })

  test('an empty variable counts as left out', () => {
    assert.equal(sandbox({ PORT: '', PAYBELL_ORDER_PATIENCE: '' }).port, 8080)
    assert.deepEqual(faultyNames('production', { ...PRODUCTION, DATABASE_URL: '' }), [
      'DATABASE_URL',
    ])
  })

  test('the result cannot be changed', () => {
    assert.ok(Object.isFrozen(production()))
  })
})

describe('faults', () => {
  test('production names everything that it misses, at once', () => {
    const required = SETTINGS.filter((setting) => 'required' in setting)
    assert.deepEqual(
      faultyNames('production', {}),
      required.map((setting) => setting.name),
    )
    for (const fault of faultsOf('production', {})) assert.match(fault, / is missing\. /)
  })

  test('all faults come together, and one message holds them all', () => {
    const env = { PORT: 'eighty', PAYBELL_ORDER_PATIENCE: 'long', PAYBELL_LOG_LEVEL: 'loud' }
    assert.throws(
      () => sandbox(env),
      (error) => {
        assert.ok(error instanceof ConfigError)
        for (const name of Object.keys(env)) assert.ok(error.message.includes(name))
        assert.equal(error.faults.length, 3)
        return true
      },
    )
  })

  test('a fault names the setting and never what was given', () => {
    const canary = 'canary-4f1d'
    for (const { name } of SETTINGS) {
      for (const fault of faultsOf('production', { ...PRODUCTION, [name]: canary })) {
        assert.ok(fault.startsWith(name), fault)
        assert.ok(!fault.includes(canary), fault)
      }
    }
    const file = faultsOf('production', { ...PRODUCTION, DATABASE_URL_FILE: canary })
    assert.ok(file.length > 0 && !file.join().includes(canary))
  })

  test('what has a meaning only in the sandbox is refused in production', () => {
    const sandboxOnly = SETTINGS.filter((setting) => 'sandboxOnly' in setting)
    assert.deepEqual(
      sandboxOnly.map((setting) => setting.name),
      ['PAYBELL_DATA_DIR', 'PAYBELL_SANDBOX_SEED', 'PAYBELL_TIME_SCALE'],
    )
    for (const { name, fallback } of sandboxOnly) {
      assert.equal(faultsOf('sandbox', { [name]: fallback }).length, 0)
      const [fault, ...others] = faultsOf('production', { ...PRODUCTION, [name]: fallback })
      assert.equal(fault, `${name} works only in the sandbox: remove it`)
      assert.deepEqual(others, [])
    }
  })
})

describe('notices', () => {
  const KEY = 'a key that signs notices'
  const faultsWith = (url: string, key: string, mode: 'sandbox' | 'production' = 'production') =>
    faultsOf(mode, {
      ...(mode === 'production' ? PRODUCTION : {}),
      PAYBELL_NOTICE_URL: url,
      PAYBELL_NOTICE_KEY: key,
    })

  test('need an address that callbacks may reach, and a key of the length of any other', () => {
    assert.deepEqual(faultsWith('https://operator.example.com/notices', KEY), [])
    assert.deepEqual(faultsWith('http://127.0.0.1:9000/', 'k', 'sandbox'), [])
    for (const url of ['http://operator.example.com/', 'https://10.0.0.7/', 'https://localhost/']) {
      assert.match(faultsWith(url, KEY).join(), /^PAYBELL_NOTICE_URL must be an address/)
    }
    assert.match(
      faultsWith('https://operator.example.com/', 'short').join(),
      /^PAYBELL_NOTICE_KEY must be a text that may be a sharedKey \(too-short\)$/,
    )
  })

  test('one without the other is a fault', () => {
    assert.match(faultsWith('https://operator.example.com/', '').join(), /needs PAYBELL_NOTICE_KEY/)
    assert.match(faultsWith('', KEY).join(), /is set without PAYBELL_NOTICE_URL/)
  })
})

describe('secrets', () => {
  const files: Record<string, string> = {
    '/run/secrets/url': `${DATABASE_URL}\n`,
    '/run/secrets/master': `  ${MASTER_KEY}\n`,
    '/run/secrets/operator': OPERATOR_KEY,
    '/run/secrets/empty': '\n',
  }
  const readFile = (path: string) => files[path] ?? noFile(path)

  test('each of them can come from a file, white space at its ends aside', () => {
    const config = loadConfig(
      'production',
      {
        DATABASE_URL_FILE: '/run/secrets/url',
        PAYBELL_MASTER_KEY_FILE: '/run/secrets/master',
        PAYBELL_OPERATOR_KEY_FILE: '/run/secrets/operator',
      },
      readFile,
    )
    const { settings, ...values } = config
    const { settings: _, ...expected } = production()
    assert.deepEqual(values, expected)
    const fromFiles = settings.filter(({ source }) => source === 'file').map(({ name }) => name)
    assert.deepEqual(fromFiles, ['DATABASE_URL', 'PAYBELL_MASTER_KEY', 'PAYBELL_OPERATOR_KEY'])
  })

  for (const { name } of SETTINGS.filter(
    (setting) => 'secret' in setting && 'required' in setting,
  )) {
    test(`${name}_FILE: missing, empty, or beside ${name} itself is a fault`, () => {
      const { [name]: _, ...others } = PRODUCTION
      for (const path of ['/run/secrets/empty', '/run/secrets/nothing-here']) {
        const faults = faultsOf('production', { ...others, [`${name}_FILE`]: path }, readFile)
        assert.equal(faults[0], `${name}_FILE must name a readable file that is not empty`)
        assert.ok(faults.every((fault) => fault.startsWith(name)))
      }
      const path = Object.keys(files).find((key) => files[key]?.trim() === PRODUCTION[name])
      assert.deepEqual(
        faultsOf('production', { ...PRODUCTION, [`${name}_FILE`]: path }, readFile),
        [`${name} and ${name}_FILE are both set: keep one`],
      )
    })
  }

  test('settings that are no secret have no such twin', () => {
    assert.equal(loadConfig('sandbox', { PORT_FILE: '/run/secrets/url' }, readFile).port, 8080)
  })

  const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
  const weakMasterKeys: Readonly<Record<string, string>> = {
    changeme: 'changeme',
    'changeme, 32 bytes of it': base64('changeme'.repeat(4)),
    'a known default inside': base64('0123456789-Change-Me-9876543210!'),
    'all bytes the same': Buffer.alloc(32, 7).toString('base64'),
    'all bytes zero': Buffer.alloc(32).toString('base64'),
    'seven different bytes': Buffer.from(Array.from({ length: 32 }, (_, i) => i % 7)).toString(
      'base64',
    ),
    '31 bytes': randomBytes(31).toString('base64'),
    '33 bytes': randomBytes(33).toString('base64'),
    'not base64': `${MASTER_KEY.slice(0, -1)}*`,
    'the url-safe alphabet': Buffer.alloc(32, 0xfb).toString('base64url'),
    'a good one and a bad one': `${MASTER_KEY},changeme`,
    'nine of them': new Array(9).fill(MASTER_KEY).join(','),
  }
  for (const [what, key] of Object.entries(weakMasterKeys)) {
    test(`PAYBELL_MASTER_KEY is refused: ${what}`, () => {
      assert.deepEqual(faultsOf('production', { ...PRODUCTION, PAYBELL_MASTER_KEY: key }), [
        'PAYBELL_MASTER_KEY must be 32 random bytes in base64 (comma-separated)',
      ])
    })
  }

  test('several master keys keep their order: the first one writes', () => {
    const older = randomBytes(32)
    const { masterKeys } = production({
      PAYBELL_MASTER_KEY: `${MASTER_KEY}, ${older.toString('base64')}`,
    })
    assert.deepEqual(masterKeys, [Buffer.from(MASTER_KEY, 'base64'), older])
  })

  const weakOperatorKeys: Readonly<Record<string, string>> = {
    changeme: 'changeme',
    'changeme, often': 'changeme'.repeat(5),
    'one character, often': 'x'.repeat(40),
    '31 characters': OPERATOR_KEY.slice(0, 31),
    '513 characters': OPERATOR_KEY.repeat(15).slice(0, 513),
    'a space inside': `${OPERATOR_KEY} ${OPERATOR_KEY}`,
  }
  for (const [what, key] of Object.entries(weakOperatorKeys)) {
    test(`PAYBELL_OPERATOR_KEY is refused: ${what}`, () => {
      assert.deepEqual(faultyNames('production', { ...PRODUCTION, PAYBELL_OPERATOR_KEY: key }), [
        'PAYBELL_OPERATOR_KEY',
      ])
    })
  }

  test('regression: DATABASE_URL may name several hosts of which one takes writes', () => {
    const url = 'postgres://u:p@a:5432,b:5432/paybell?target_session_attrs=read-write'
    assert.equal(production({ DATABASE_URL: url }).databaseUrl, url)
    const standby = 'postgres://u:p@a,b/paybell?target_session_attrs=standby'
    assert.match(
      faultsOf('production', { ...PRODUCTION, DATABASE_URL: standby }).join(),
      /^DATABASE_URL must be .*target_session_attrs/,
    )
  })

  test('processes are a number up to that of the shards, or auto; none are none', () => {
    assert.equal(production({ PAYBELL_PROCESSES: 'auto' }).processes, 'auto')
    assert.equal(production({ PAYBELL_PROCESSES: '64' }).processes, 64)
    assert.equal(production({ PAYBELL_PROCESSES: '' }).processes, null)
    for (const text of ['0', '65', '-1', '1.5', 'Auto', 'many']) {
      const [fault] = faultsOf('production', { ...PRODUCTION, PAYBELL_PROCESSES: text })
      assert.equal(fault, 'PAYBELL_PROCESSES must be auto, or a whole number from 1 to 64', text)
    }
  })

  test('the connections to the database and the wait for it have bounds', () => {
    assert.equal(production({ PAYBELL_DATABASE_CONNECTIONS: '40' }).databaseConnections, 40)
    assert.equal(production({ PAYBELL_DATABASE_WAIT_SECONDS: '0' }).databaseWaitSeconds, 0)
    const wrong = { PAYBELL_DATABASE_CONNECTIONS: '3', PAYBELL_DATABASE_WAIT_SECONDS: '86401' }
    assert.deepEqual(faultyNames('production', { ...PRODUCTION, ...wrong }), Object.keys(wrong))
  })

  test('DATABASE_URL must be one of PostgreSQL', () => {
    assert.equal(production({ DATABASE_URL: 'postgresql://h/d' }).databaseUrl, 'postgresql://h/d')
    assert.deepEqual(faultyNames('production', { ...PRODUCTION, DATABASE_URL: 'mysql://h/d' }), [
      'DATABASE_URL',
    ])
  })

  test('the list of settings tells that they are set, and nothing of them', () => {
    const { settings } = production({
      PAYBELL_NOTICE_URL: 'https://example.com/notices?token=canary-token',
      PAYBELL_NOTICE_KEY: 'a-canary-of-the-notice-key',
      PAYBELL_RETENTION_DAYS: '90',
    })
    const find = (name: string) => settings.find((setting) => setting.name === name)
    assert.equal(find('PAYBELL_RETENTION_DAYS')?.value, '90')
    assert.equal(find('PAYBELL_RETENTION_DAYS')?.source, 'environment')
    assert.equal(find('PORT')?.source, 'default')
    assert.equal(find('PAYBELL_BASE_URL')?.source, null)
    for (const name of ['PAYBELL_OPERATOR_KEY', 'PAYBELL_NOTICE_URL', 'PAYBELL_NOTICE_KEY']) {
      const { isSecret, isSet, value } = find(name) ?? {}
      assert.deepEqual({ isSecret, isSet, value }, { isSecret: true, isSet: true, value: null })
    }
    assert.doesNotMatch(JSON.stringify(settings), /canary/)
    for (const secret of [MASTER_KEY, OPERATOR_KEY, DATABASE_URL]) {
      assert.ok(!JSON.stringify(settings).includes(secret))
    }
  })

  test('the summary for the log shows that they are set, and nothing of them', () => {
    const pem = '-----BEGIN CERTIFICATE-----\ncanary-pem\n-----END CERTIFICATE-----\n'
    const config = production({ PAYBELL_EXTRA_CA_FILE: '/ca.pem' }, (path) =>
      path === '/ca.pem' ? pem : noFile(path),
    )
    const summary = describeConfig(config)
    assert.equal(summary.masterKeysConfigured, 1)
    assert.equal(summary.operatorKeyConfigured, true)
    assert.equal(summary.databaseUrlConfigured, true)
    assert.equal(summary.extraCaConfigured, true)
    assert.equal(summary.port, 8080)
    const text = JSON.stringify(summary)
    const bytes = JSON.stringify(Buffer.from(MASTER_KEY, 'base64').toJSON().data)
    for (const secret of [
      MASTER_KEY,
      bytes,
      OPERATOR_KEY,
      DATABASE_URL,
      'a-canary',
      'canary-pem',
    ]) {
      assert.ok(!text.includes(secret))
    }
    assert.equal(describeConfig(sandbox()).operatorKeyConfigured, false)
  })
})

describe('numbers, durations, networks and addresses', () => {
  const limits: readonly [name: string, min: number, max: number][] = [
    ['PORT', 0, 65_535],
    ['PAYBELL_OPERATOR_PORT', 0, 65_535],
    ['PAYBELL_TOKEN_TTL_SECONDS', 60, 86_400],
    ['PAYBELL_MIN_SHARED_KEY_LENGTH', 1, 256],
    ['PAYBELL_MAX_ENDPOINTS', 1, 1_000],
    ['PAYBELL_REQUESTS_PER_SECOND', 1, 1_000_000],
    ['PAYBELL_ENDPOINT_RATE', 1, 100_000],
    ['PAYBELL_RETENTION_DAYS', 8, 3_650],
    ['PAYBELL_PAYMENT_RETENTION_DAYS', 30, 36_500],
    ['PAYBELL_AUDIT_RETENTION_DAYS', 30, 36_500],
    ['PAYBELL_DOCUMENT_LINK_DAYS', 1, 3_650],
    ['PAYBELL_TIME_SCALE', 1, 100_000],
  ]
  test('payments are not removed before their events', () => {
    const env = { PAYBELL_RETENTION_DAYS: '400', PAYBELL_PAYMENT_RETENTION_DAYS: '399' }
    assert.deepEqual(faultsOf('sandbox', env), [
      'PAYBELL_PAYMENT_RETENTION_DAYS must not be less than PAYBELL_RETENTION_DAYS',
    ])
    assert.deepEqual(faultsOf('sandbox', { ...env, PAYBELL_PAYMENT_RETENTION_DAYS: '400' }), [])
  })

  for (const [name, min, max] of limits) {
    test(`${name} is a whole number from ${min} to ${max}`, () => {
      for (const text of [String(min), String(max)]) {
        assert.deepEqual(faultsOf('sandbox', { [name]: text }), [])
      }
      for (const text of [String(min - 1), String(max + 1), '1.5', '0x10', '1e2', ' 1', 'one']) {
        assert.deepEqual(faultsOf('sandbox', { [name]: text }), [
          `${name} must be a whole number from ${min} to ${max}`,
        ])
      }
    })
  }

  test('a duration has a number and a unit, and lasts at most 7 days', () => {
    const durations = { '0s': 0, '250ms': 250, '90s': 90_000, '30m': 1_800_000, '7d': 604_800_000 }
    for (const [text, ms] of Object.entries(durations)) {
      assert.equal(sandbox({ PAYBELL_ORDER_PATIENCE: text }).orderPatienceMs, ms)
    }
    for (const text of ['1', 'h', '-1h', '1.5h', '1 h', '1h30m', '8d', '169h', '1H', '1w']) {
      assert.deepEqual(faultyNames('sandbox', { PAYBELL_ORDER_PATIENCE: text }), [
        'PAYBELL_ORDER_PATIENCE',
      ])
    }
  })

  test('at most 100 networks are published as those that callbacks come from', () => {
    const many = Array.from({ length: 101 }, (_, at) => `203.0.113.${at}/32`)
    const name = 'PAYBELL_EGRESS_ADDRESSES'
    assert.equal(production({ [name]: many.slice(1).join() }).egressAddresses?.length, 100)
    assert.deepEqual(faultyNames('production', { ...PRODUCTION, [name]: many.join() }), [name])
  })

  test('pages that may show the console are exact origins, with TLS but for a sandbox at home', () => {
    const name = 'PAYBELL_CONSOLE_EMBED_ORIGINS'
    assert.deepEqual(production({}).embedOrigins, [])
    assert.deepEqual(
      production({ [name]: 'https://app.example.com, https://b.example:8443' }).embedOrigins,
      ['https://app.example.com', 'https://b.example:8443'],
    )
    for (const text of [
      ...['https://*.example.com', '*', 'https:', "'self'", 'https://app.example.com/'],
      ...['https://app.example.com/x', 'https://a@app.example.com', 'https://App.example.com'],
      ...['http://localhost:8080', 'https://a.example,', 'https://a.example; script-src *'],
      Array.from({ length: 21 }, (_, at) => `https://a${at}.example`).join(),
    ]) {
      assert.deepEqual(faultyNames('production', { ...PRODUCTION, [name]: text }), [name], text)
    }
    const here = loadConfig('sandbox', { [name]: 'http://localhost:8080' })
    assert.deepEqual(here.embedOrigins, ['http://localhost:8080'])
    assert.deepEqual(faultyNames('sandbox', { [name]: 'http://app.example.com' }), [name])
  })

  test('a theme has a colour that can be read, a logo with TLS and a short name', () => {
    const name = 'PAYBELL_CONSOLE_THEME'
    const logo = 'https://app.example.com/logo.svg'
    assert.deepEqual(
      production({ [name]: `accent=#7A1FA2, logo=${logo},name = Acme Pay` }).consoleTheme,
      { accent: '#7A1FA2', logo, name: 'Acme Pay' },
    )
    assert.deepEqual(production({ [name]: 'name=A' }).consoleTheme, {
      ...{ accent: null, logo: null, name: 'A' },
    })
    for (const text of [
      ...[
        '',
        'blue',
        'accent=blue',
        'accent=#fff',
        'accent=#ff8800',
        'accent=#808080',
        'colour=#000000',
      ],
      ...[
        'logo=http://app.example.com/l.svg',
        'logo=javascript:alert(1)',
        'logo=https://a.example/l; *',
      ],
      ...['logo=https://a.example/l?x', 'logo=data:image/png;base64,AA', `name=${'x'.repeat(41)}`],
      ...['name=A,name=B', 'name=A,', 'name='],
    ].filter(Boolean)) {
      assert.deepEqual(faultyNames('production', { ...PRODUCTION, [name]: text }), [name], text)
    }
  })

  for (const [name, member] of [
    ['PAYBELL_ALLOWED_NETWORKS', 'allowedNetworks'],
    ['PAYBELL_TRUSTED_PROXIES', 'trustedProxies'],
    ['PAYBELL_EGRESS_ADDRESSES', 'egressAddresses'],
  ] as const) {
    test(`${name} is a list of CIDRs, each without host bits and none of them everything`, () => {
      const config = production({ [name]: '10.20.0.0/16, fd00::/8,192.168.7.1/32' })
      assert.deepEqual(config[member], ['10.20.0.0/16', 'fd00::/8', '192.168.7.1/32'])
      for (const text of ['10.20.0.0', '10.20.0.1/16', '10.0.0.0/33', '0.0.0.0/0', '::/0', 'lan']) {
        assert.deepEqual(faultyNames('production', { ...PRODUCTION, [name]: text }), [name])
      }
    })
  }

  test('the public address is absolute, without credentials, query or final slash', () => {
    const given = production({ PAYBELL_BASE_URL: 'https://pay.example.net/bell//' })
    assert.equal(given.baseUrl, 'https://pay.example.net/bell')
    for (const text of [
      'pay.example.net',
      'ftp://pay.example.net',
      'https://user@pay.example.net',
      'https://pay.example.net/?a=1',
      'https://pay.example.net/#a',
    ]) {
      assert.deepEqual(faultyNames('production', { ...PRODUCTION, PAYBELL_BASE_URL: text }), [
        'PAYBELL_BASE_URL',
      ])
    }
  })

  test('the extra authorities are a PEM file that can be read', () => {
    for (const readFile of [noFile, () => 'no certificate at all']) {
      const env = { ...PRODUCTION, PAYBELL_EXTRA_CA_FILE: '/ca.pem' }
      assert.deepEqual(faultsOf('production', env, readFile), [
        'PAYBELL_EXTRA_CA_FILE must be the path of a readable PEM file',
      ])
    }
  })

  test('the log has five levels', () => {
    for (const level of ['debug', 'info', 'warn', 'error', 'silent']) {
      assert.equal(production({ PAYBELL_LOG_LEVEL: level }).logLevel, level)
    }
    assert.deepEqual(faultyNames('sandbox', { PAYBELL_LOG_LEVEL: 'trace' }), ['PAYBELL_LOG_LEVEL'])
  })
})

describe('the NATS source', () => {
  const NATS = {
    PAYBELL_NATS_URL: 'nats://u:a-canary@one:4222, tls://two',
    PAYBELL_NATS_STREAM: 'S',
  }

  test('is read whole, and shown without its secrets', () => {
    const config = sandbox({ ...NATS, PAYBELL_NATS_CREDS: 'a-canary' })
    assert.deepEqual(config.nats, {
      urls: ['nats://u:a-canary@one:4222', 'tls://two'],
      stream: 'S',
      subject: 'paybell.payments.>',
      durable: 'paybell',
      credentials: 'a-canary',
    })
    assert.doesNotMatch(JSON.stringify(describeConfig(config)), /a-canary/)
  })

  test('is refused by half, and where dead letters would come back as payments', () => {
    const faulty = (env: Environment) => faultyNames('sandbox', env)
    assert.deepEqual(faulty({ PAYBELL_NATS_CREDS: 'x' }), ['PAYBELL_NATS_CREDS'])
    assert.deepEqual(faulty({ ...NATS, PAYBELL_NATS_STREAM: 'a b' }), ['PAYBELL_NATS_STREAM'])
    assert.deepEqual(faulty({ ...NATS, PAYBELL_NATS_URL: 'http://one' }), ['PAYBELL_NATS_URL'])
    assert.deepEqual(faulty({ ...NATS, PAYBELL_NATS_DURABLE: 'a.b' }), ['PAYBELL_NATS_DURABLE'])
    for (const subject of [
      '>',
      'paybell.>',
      'paybell.*.*',
      '*.dead.>',
      'paybell.dead.*',
      'a.b',
      'a..>',
      'a.>.b',
    ]) {
      assert.deepEqual(
        faulty({ ...NATS, PAYBELL_NATS_SUBJECT: subject }),
        ['PAYBELL_NATS_SUBJECT'],
        subject,
      )
    }
    for (const subject of [
      'a.>',
      'a.*',
      'paybell.payments.*',
      '*.*',
      '*.payments.>',
      `a.${'0'.repeat(36)}`,
    ]) {
      assert.equal(sandbox({ ...NATS, PAYBELL_NATS_SUBJECT: subject }).nats?.subject, subject)
    }
  })
})

describe('the Kafka source', () => {
  const KAFKA = { PAYBELL_KAFKA_BROKERS: 'one:9092, [::1]:9093' }
  const SASL = {
    PAYBELL_KAFKA_SASL_MECHANISM: 'scram-sha-512',
    PAYBELL_KAFKA_SASL_USERNAME: 'paybell',
    PAYBELL_KAFKA_SASL_PASSWORD: 'a-canary',
  }

  test('is off without brokers, and its password is in no description', () => {
    assert.equal(sandbox({}).kafka, null)
    const config = sandbox({ ...KAFKA, ...SASL, PAYBELL_KAFKA_TLS: 'on' })
    assert.deepEqual(config.kafka, {
      brokers: ['one:9092', '[::1]:9093'],
      topic: 'paybell.payments',
      group: 'paybell',
      tls: { extraCa: null },
      sasl: { mechanism: 'SCRAM-SHA-512', username: 'paybell', password: 'a-canary' },
    })
    assert.doesNotMatch(JSON.stringify(describeConfig(config)), /a-canary/)
    assert.equal(sandbox(KAFKA).kafka?.tls, null)
  })

  test('says which setting is wrong', () => {
    const wrong: readonly [Record<string, string>, string][] = [
      [{ PAYBELL_KAFKA_BROKERS: 'one' }, 'PAYBELL_KAFKA_BROKERS'],
      [{ PAYBELL_KAFKA_BROKERS: 'kafka://one:9092' }, 'PAYBELL_KAFKA_BROKERS'],
      [{ PAYBELL_KAFKA_BROKERS: 'one:0' }, 'PAYBELL_KAFKA_BROKERS'],
      [{ ...KAFKA, PAYBELL_KAFKA_TOPIC: 'a b' }, 'PAYBELL_KAFKA_TOPIC'],
      [{ ...KAFKA, PAYBELL_KAFKA_TOPIC: 'x'.repeat(245) }, 'PAYBELL_KAFKA_TOPIC'],
      [{ ...KAFKA, PAYBELL_KAFKA_GROUP: 'a/b' }, 'PAYBELL_KAFKA_GROUP'],
      [{ ...KAFKA, PAYBELL_KAFKA_TLS: 'maybe' }, 'PAYBELL_KAFKA_TLS'],
      [
        { ...KAFKA, ...SASL, PAYBELL_KAFKA_SASL_MECHANISM: 'GSSAPI' },
        'PAYBELL_KAFKA_SASL_MECHANISM',
      ],
      [{ ...KAFKA, PAYBELL_KAFKA_SASL_MECHANISM: 'PLAIN' }, 'PAYBELL_KAFKA_SASL_MECHANISM'],
      [{ ...KAFKA, PAYBELL_KAFKA_SASL_USERNAME: 'u' }, 'PAYBELL_KAFKA_SASL_USERNAME'],
    ]
    for (const [env, name] of wrong) {
      assert.deepEqual(faultyNames('sandbox', env), [name], JSON.stringify(env))
    }
    assert.deepEqual(faultyNames('sandbox', SASL), Object.keys(SASL))
  })

  test('regression: a password is not sent as it is where nothing encrypts it', () => {
    const plain = { ...KAFKA, ...SASL, PAYBELL_KAFKA_SASL_MECHANISM: 'plain' }
    for (const tls of [{}, { PAYBELL_KAFKA_TLS: 'off' }]) {
      assert.throws(() => sandbox({ ...plain, ...tls }), /is PLAIN.*set PAYBELL_KAFKA_TLS=on/)
    }
    assert.equal(sandbox({ ...plain, PAYBELL_KAFKA_TLS: 'on' }).kafka?.sasl?.mechanism, 'PLAIN')
    assert.equal(sandbox({ ...KAFKA, ...SASL }).kafka?.tls, null, 'SCRAM sends none')
  })
})

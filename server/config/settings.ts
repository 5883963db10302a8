// The table of settings: a row for each, with its default and a sentence. `.env.example` and
// docs/configuration.md show it; tests hold them to it.

import type { Setting } from '../core/plain/setting.ts'

export const SETTINGS = [
  { name: 'HOST', fallback: '127.0.0.1', about: 'Address to listen on.' },
  { name: 'PORT', fallback: '8080', about: 'Port to listen on; 0 takes any free one.' },
  {
    name: 'PAYBELL_BASE_URL',
    about:
      'Public address of the service, used in links (by default host and port) and as the issuer of tokens.',
  },
  {
    name: 'PAYBELL_OPERATOR_PORT',
    about: 'Moves the operator routes and metrics to a port of their own.',
  },
  {
    name: 'PAYBELL_PROCESSES',
    about:
      'How many processes paybell serve starts on the same port, 1 to 64, or auto: one for each core. A parent watches them and starts one that died again. Without it: one process, without a parent.',
  },
  {
    name: 'PAYBELL_DATA_DIR',
    fallback: '.paybell',
    sandboxOnly: true,
    about: 'Where the sandbox keeps its database and credentials.',
  },
  {
    name: 'DATABASE_URL',
    required: true,
    secret: true,
    about: 'PostgreSQL 15 or later. The sandbox brings its own when this is left out.',
  },
  {
    name: 'PAYBELL_CELL',
    about:
      'Which cell this service is, 0 to 1023, where several share the clients: its tables are in the schema paybell_7 for cell 7, and its metrics have a label cell. Without it: cell 0, in the schema paybell, and no label.',
  },
  {
    name: 'PAYBELL_CELL_ADDRESS',
    about:
      'Address at which producers and operators reach this cell itself, where PAYBELL_BASE_URL is that of paybell route; by default PAYBELL_BASE_URL.',
  },
  {
    name: 'PAYBELL_DATABASE_CONNECTIONS',
    fallback: '16',
    about: 'Connections to the database that one process shares among its work, 4 to 500.',
  },
  {
    name: 'PAYBELL_DATABASE_WAIT_SECONDS',
    fallback: '60',
    about:
      'How long paybell serve waits at its start for a database that is away, 0 to 86400; 0 ends at once.',
  },
  {
    name: 'PAYBELL_MASTER_KEY',
    required: true,
    secret: true,
    about:
      '32 bytes in base64 that seal all stored secrets; several, comma-separated, to rotate: the first one writes, all read. Make one with: openssl rand -base64 32',
  },
  {
    name: 'PAYBELL_OPERATOR_KEY',
    required: true,
    secret: true,
    about:
      "The operator's key for /operator/v1: at least 32 characters. May be left out where PAYBELL_OIDC_ISSUER is set.",
  },
  {
    name: 'PAYBELL_OIDC_ISSUER',
    about:
      'Operators may sign in with their company: the issuer of its OpenID Connect provider, an https URL. PAYBELL_OIDC_CLIENT_ID, PAYBELL_OIDC_CLIENT_SECRET and PAYBELL_OIDC_ROLES are needed with it.',
  },
  {
    name: 'PAYBELL_OIDC_CLIENT_ID',
    about: 'What Paybell is called at that provider.',
  },
  {
    name: 'PAYBELL_OIDC_CLIENT_SECRET',
    secret: true,
    about: 'The secret that the provider has given for it.',
  },
  {
    name: 'PAYBELL_OIDC_ROLE_CLAIM',
    fallback: 'groups',
    about: "The claim of the ID token that lists a person's groups.",
  },
  {
    name: 'PAYBELL_OIDC_ROLES',
    about:
      'Which group has which role, comma-separated, such as payments-admins=admin,support=viewer. Who is in several has the role that is named first.',
  },
  {
    name: 'PAYBELL_TOKEN_TTL_SECONDS',
    fallback: '3600',
    about: 'Lifetime of an access token, 60 to 86400.',
  },
  {
    name: 'PAYBELL_MIN_SHARED_KEY_LENGTH',
    fallback: '16',
    sandboxFallback: '1',
    about: 'Fewest characters of a sharedKey, 1 to 256.',
  },
  {
    name: 'PAYBELL_MAX_ENDPOINTS',
    fallback: '50',
    about: 'Webhooks per account, and subscriptions per client, 1 to 1000.',
  },
  {
    name: 'PAYBELL_ORDER_PATIENCE',
    fallback: '1h',
    about:
      'How long a failing update holds back the later ones of its payment: 0s to 7d; 7d never gives way.',
  },
  {
    name: 'PAYBELL_REQUESTS_PER_SECOND',
    fallback: '200',
    sandboxFallback: '5000',
    about: 'API requests that one client may make per second, in bursts of twice that.',
  },
  {
    name: 'PAYBELL_ENDPOINT_RATE',
    about: 'Callbacks per second that one endpoint gets at most; without it, as many as it takes.',
  },
  {
    name: 'PAYBELL_RETENTION_DAYS',
    fallback: '30',
    about: 'How long events, attempts and finished deliveries are kept, 8 to 3650 days.',
  },
  {
    name: 'PAYBELL_PAYMENT_RETENTION_DAYS',
    about:
      'How long payments are kept after their last change, 30 to 36500 days and no less than history; without it, for ever.',
  },
  {
    name: 'PAYBELL_AUDIT_RETENTION_DAYS',
    about: 'How long the audit is kept, by whole months, 30 to 36500 days; without it, for ever.',
  },
  {
    name: 'PAYBELL_DOCUMENT_LINK_DAYS',
    fallback: '30',
    about:
      'How long a link to a document is good after its event, 1 to 3650 days; never longer than the event is kept.',
  },
  {
    name: 'PAYBELL_ALLOWED_NETWORKS',
    about:
      'Private networks that callbacks may reach all the same: a comma-separated list of CIDRs.',
  },
  {
    name: 'PAYBELL_EGRESS_ADDRESSES',
    about:
      'Networks that callbacks come from, for receivers behind a firewall: at most 100 CIDRs, comma-separated. /.well-known/paybell-egress.json shows them.',
  },
  {
    name: 'PAYBELL_CONSOLE_EMBED_ORIGINS',
    about:
      'Origins whose pages may show a client’s console in a frame, such as https://app.example.com: at most 20, comma-separated.',
  },
  {
    name: 'PAYBELL_CONSOLE_THEME',
    about:
      'How the console looks: accent=#0b5c8f, logo=https://app.example.com/logo.svg, name=Acme Pay; any of them. The accent must be dark enough for white text.',
  },
  {
    name: 'PAYBELL_EXTRA_CA_FILE',
    about: 'PEM file of certificate authorities trusted for callbacks besides the usual ones.',
  },
  {
    name: 'PAYBELL_TRUSTED_PROXIES',
    about: 'CIDRs of reverse proxies whose X-Forwarded-For is trusted.',
  },
  {
    name: 'PAYBELL_SECURITY_CONTACT',
    about:
      'Where people report a vulnerability of this service: https:, mailto: or tel: URIs, comma-separated, at most 5. /.well-known/security.txt shows them.',
  },
  {
    name: 'PAYBELL_SECURITY_EXPIRES',
    about:
      'Until when that contact is good: a day or an instant, best less than a year ahead. Needed with PAYBELL_SECURITY_CONTACT.',
  },
  {
    name: 'PAYBELL_DRAIN_SECONDS',
    fallback: '5',
    sandboxFallback: '0',
    about:
      'How long a process that was asked to stop still serves while /readyz says no, so that a balancer turns away first, 0 to 600.',
  },
  {
    name: 'PAYBELL_NOTICE_URL',
    about:
      'Where notices to the operator go: exhausted deliveries, failing, recovered and disabled endpoints. The rules of a callbackUrl hold.',
  },
  {
    name: 'PAYBELL_NOTICE_KEY',
    secret: true,
    about: 'The shared key that signs notices. Needed with PAYBELL_NOTICE_URL.',
  },
  {
    name: 'PAYBELL_NATS_URL',
    secret: true,
    about:
      'Takes payment changes from a NATS JetStream stream, too: nats:// or tls:// addresses of one cluster, comma-separated.',
  },
  {
    name: 'PAYBELL_NATS_STREAM',
    fallback: 'PAYBELL',
    about: 'The stream that is read. It exists already.',
  },
  {
    name: 'PAYBELL_NATS_SUBJECT',
    fallback: 'paybell.payments.>',
    about: 'The subjects that are read; their last token is the id of the account.',
  },
  {
    name: 'PAYBELL_NATS_DURABLE',
    fallback: 'paybell',
    about: 'Name of the durable consumer, which is made when it is not there.',
  },
  {
    name: 'PAYBELL_NATS_CREDS',
    secret: true,
    about:
      'Content of the credentials file of a NATS user; PAYBELL_NATS_CREDS_FILE names the file.',
  },
  {
    name: 'PAYBELL_KAFKA_BROKERS',
    about:
      'Takes payment changes from a Kafka topic, too: host:port of some brokers of one cluster, comma-separated.',
  },
  {
    name: 'PAYBELL_KAFKA_TOPIC',
    fallback: 'paybell.payments',
    about:
      'The topic that is read. It exists already; dead letters go to the one of this name with .dead.',
  },
  {
    name: 'PAYBELL_KAFKA_GROUP',
    fallback: 'paybell',
    about: 'Name of the consumer group, whose members share the partitions.',
  },
  {
    name: 'PAYBELL_KAFKA_TLS',
    fallback: 'off',
    about:
      'on or off: whether brokers are reached over TLS. PAYBELL_EXTRA_CA_FILE is trusted for them, too.',
  },
  {
    name: 'PAYBELL_KAFKA_SASL_MECHANISM',
    about:
      'PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512: how the user proves who it is. PLAIN needs PAYBELL_KAFKA_TLS=on.',
  },
  {
    name: 'PAYBELL_KAFKA_SASL_USERNAME',
    about: 'The user at the brokers. Needed with PAYBELL_KAFKA_SASL_MECHANISM.',
  },
  {
    name: 'PAYBELL_KAFKA_SASL_PASSWORD',
    secret: true,
    about: 'Its password. Needed with PAYBELL_KAFKA_SASL_MECHANISM.',
  },
  {
    name: 'PAYBELL_SANDBOX_SEED',
    fallback: 'terminal',
    sandboxOnly: true,
    about:
      'on, off or terminal: whether the first start makes a demo client with a payment and its callbacks; terminal: only where a person starts it in one.',
  },
  {
    name: 'PAYBELL_TIME_SCALE',
    fallback: '1',
    sandboxOnly: true,
    about: 'Runs the delivery clock this many times faster, 1 to 100000.',
  },
  {
    name: 'PAYBELL_LOG_LEVEL',
    fallback: 'info',
    sandboxFallback: 'warn',
    about: 'debug, info, warn, error or silent.',
  },
] as const satisfies readonly Setting[]

export type SettingName = (typeof SETTINGS)[number]['name']

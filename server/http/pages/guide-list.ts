// Which guides are served at /guides, in which order, and to whom. Where the operator has a port of its own,
// what only an operator needs is served there and not at the public one.

export interface Guide {
  /** In its address, and the name of its file: docs/<name>.md. */
  name: string
  title: string
  about: string
}

export interface GuideGroup {
  title: string
  audience: 'everyone' | 'operator'
  guides: readonly Guide[]
}

const guide = (name: string, title: string, about: string): Guide => ({ name, title, about })

export const GUIDE_GROUPS: readonly GuideGroup[] = [
  {
    title: 'Start here',
    audience: 'everyone',
    guides: [
      guide(
        'first-hour',
        'Your first hour',
        'To a verified callback; and, for operators, to a client and a bulk replay.',
      ),
      guide('sandbox', 'The sandbox', 'A receiver inside, the demo shop, a faster clock.'),
      guide('glossary', 'Glossary', 'The words of these pages, in a sentence each.'),
    ],
  },
  {
    title: 'Integrate',
    audience: 'everyone',
    guides: [
      guide('api', 'Client API', 'Tokens, webhooks, subscriptions, deliveries, limits.'),
      guide('delivery', 'Delivery', 'Headers, signatures, retries, order, refused addresses.'),
      guide('receivers', 'Receivers', 'A whole receiver to paste, in eight languages.'),
      guide('signatures', 'Signatures', 'Checking the signature in eight languages.'),
      guide(
        'statements',
        'Statements and receipts',
        'Proof that nothing is missing, and that an event was delivered.',
      ),
      guide('sdk', 'SDK', 'A client and a receiver for JavaScript and TypeScript.'),
      guide('not-delivered', 'Troubleshooting', 'Why was my callback not delivered?'),
      guide('go-live', 'Go-live checklist', 'What to check before real payments arrive.'),
      guide('faq', 'FAQ', 'Short answers to what people ask first.'),
    ],
  },
  {
    title: 'Operate',
    audience: 'operator',
    guides: [
      guide('install', 'Install', 'npx, npm, image, Compose, systemd, Helm; sizing; the proxy.'),
      guide('operator', 'Operator API', 'Clients, keys, payments in, replays, the audit.'),
      guide('audit', 'The sealed audit', 'Verifying it, and how it is computed.'),
      guide(
        'feeding',
        'Feeding payments in',
        'By SQL in your own transaction, or from NATS JetStream.',
      ),
      guide('configuration', 'Configuration', 'Every setting.'),
      guide('operations', 'Operations', 'Sizing, keys, metrics, a runbook for each alert.'),
      guide('upgrading', 'Upgrading', 'Without a gap, what to look at, and the way back.'),
      guide('backup', 'Backup and restore', 'The steps, and what is where afterwards.'),
      guide('scaling', 'Scaling', 'From one process to many, and to several databases.'),
      guide('comparison', 'Comparison', 'Next to Svix, Convoy, Outpost and Hook0.'),
    ],
  },
  {
    title: 'Reference',
    audience: 'everyone',
    guides: [
      guide('problems', 'Problems', 'Each error code: what it means and what to do.'),
      guide('cli', 'Command line', 'Every command, its settings and exit codes.'),
      guide('console', 'Console', 'The pages in the browser.'),
      guide(
        'data-protection',
        'Data protection',
        'What is kept, for how long, and how it is erased.',
      ),
      guide('versioning', 'Versioning', 'What may change, and how it is announced.'),
    ],
  },
]

// Which guides are served at /guides, in which order, and to whom. Where the operator has a port of its own,
// what only an operator needs is served there and not at the public one.

export interface Guide {
  /** In its address, and the name of its file: docs/<name>.md. */
  name: string
  title: string
  about: string
  audience: 'everyone' | 'operator'
}

export interface GuideGroup {
  title: string
  guides: readonly Guide[]
}

const forEveryone = (name: string, title: string, about: string): Guide => {
  return { name, title, about, audience: 'everyone' }
}
const forOperator = (name: string, title: string, about: string): Guide => {
  return { name, title, about, audience: 'operator' }
}

export const GUIDE_GROUPS: readonly GuideGroup[] = [
  {
    title: 'Start here',
    guides: [
      forEveryone(
        'first-hour',
        'Your first hour',
        'To a verified callback; and, for operators, to a client and a bulk replay.',
      ),
      forEveryone('sandbox', 'The sandbox', 'A receiver inside, the demo shop, a faster clock.'),
      forEveryone('glossary', 'Glossary', 'The words of these pages, in a sentence each.'),
    ],
  },
  {
    title: 'Integrate',
    guides: [
      forEveryone('api', 'Client API', 'Tokens, webhooks, subscriptions, deliveries, limits.'),
      forEveryone(
        'delivery',
        'Delivery',
        'Headers, signatures, retries, order, refused addresses.',
      ),
      forEveryone('receivers', 'Receivers', 'A whole receiver to paste, in eight languages.'),
      forEveryone('signatures', 'Signatures', 'Checking the signature in eight languages.'),
      forEveryone(
        'statements',
        'Statements and receipts',
        'Proof that nothing is missing, and that an event was delivered.',
      ),
      forEveryone('sdk', 'SDK', 'A client and a receiver for JavaScript and TypeScript.'),
      forEveryone('not-delivered', 'Troubleshooting', 'Why was my callback not delivered?'),
      forEveryone('go-live', 'Go-live checklist', 'What to check before real payments arrive.'),
      forEveryone('faq', 'FAQ', 'Short answers to what people ask first.'),
    ],
  },
  {
    title: 'Operate',
    guides: [
      forOperator(
        'install',
        'Install',
        'npx, npm, image, Compose, systemd, Helm; sizing; the proxy.',
      ),
      forOperator('operator', 'Operator API', 'Clients, keys, payments in, replays, the audit.'),
      forOperator('audit', 'The sealed audit', 'Verifying it, and how it is computed.'),
      forOperator(
        'feeding',
        'Feeding payments in',
        'By SQL in your own transaction, or from NATS JetStream.',
      ),
      forOperator('configuration', 'Configuration', 'Every setting.'),
      forOperator('operations', 'Operations', 'Sizing, keys, metrics, a runbook for each alert.'),
      forOperator('upgrading', 'Upgrading', 'Without a gap, what to look at, and the way back.'),
      forOperator('backup', 'Backup and restore', 'The steps, and what is where afterwards.'),
      forOperator('scaling', 'Scaling', 'From one process to many, and to several databases.'),
      forOperator('comparison', 'Comparison', 'Next to Svix, Convoy, Outpost and Hook0.'),
    ],
  },
  {
    title: 'Reference',
    guides: [
      forEveryone('problems', 'Problems', 'Each error code: what it means and what to do.'),
      forEveryone('cli', 'Command line', 'Every command, its settings and exit codes.'),
      forEveryone('console', 'Console', 'The pages in the browser.'),
      forEveryone(
        'data-protection',
        'Data protection',
        'What is kept, for how long, and how it is erased.',
      ),
      forEveryone('versioning', 'Versioning', 'What may change, and how it is announced.'),
    ],
  },
]

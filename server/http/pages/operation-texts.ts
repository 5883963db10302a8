// What /openapi.json says of operations and their answers where a route does not say it itself. A test
// fails for an operation without a description and for an answer without a text.

export interface OperationTexts {
  description?: string
  /** By status. */
  answers?: Readonly<Record<number, string>>
}

const PAGE = 'One page, in the order of creation.'
const CURSOR_PAGE = 'Items, and a cursor to read on with; the cursor is null at the end.'
const DRY_RUN = 'The dry run: how many match. Nothing was changed.'
const QUEUED = 'How many deliveries are made. Large jobs go on after the answer.'
const RECOVERED = 'How many deliveries are replayed. Large recoveries go on after the answer.'
const RETRIED = 'The next attempt is due now.'
const ALL_RETRIED = 'How many deliveries are pending for it. They are due now.'
const STATED = 'Counts and the digest of the delivered ids, in all and for each hour, signed.'
const TESTED = 'What the endpoint answered. `delivered` is true only for a 200.'

export const OPERATION_TEXTS: Readonly<Record<string, OperationTexts>> = {
  getWebhookSeries: { answers: { 200: 'Attempts hour by hour, and how long they took.' } },
  getSubscriptionSeries: { answers: { 200: 'Attempts hour by hour, and how long they took.' } },
  getListenerSeries: { answers: { 200: 'Attempts hour by hour, and how long they took.' } },
  getEndpointSeries: { answers: { 200: 'Attempts hour by hour, and how long they took.' } },
  getWebhookStatement: { answers: { 200: STATED } },
  getSubscriptionStatement: { answers: { 200: STATED } },
  getListenerStatement: { answers: { 200: STATED } },
  getEndpointStatement: { answers: { 200: STATED } },
  getReceipt: { answers: { 200: 'The receipt, as one line of text.' } },
  getAnyReceipt: { answers: { 200: 'The receipt, as one line of text.' } },
  listOwnPayments: { answers: { 200: CURSOR_PAGE } },
  search: { answers: { 200: 'What was found, ids first.' } },
  searchAll: { answers: { 200: 'What was found, ids first.' } },
  createConsoleLink: { answers: { 201: 'The link, and when it expires.' } },
  listCells: { answers: { 200: 'The cells, each with its signed entry of the directory.' } },
  listJobs: { answers: { 200: 'One page, the newest first.' } },
  isAlive: {
    description: 'For a supervisor: restart the process when this is not answered with 200.',
    answers: { 200: 'The process runs.' },
  },
  isReady: {
    description:
      'For a load balancer: send traffic to the process only while this is 200. A 503 says why not, in `reasons`.',
    answers: { 200: 'The process can do its work.' },
  },
  readMetrics: {
    description:
      'Open in the sandbox and on the operator’s port; elsewhere it needs an operator’s key with the role `admin` or `viewer`.',
    answers: { 200: 'Metrics in the text format of Prometheus.' },
  },
  signIn: { answers: { 204: 'Signed in: the session is in the cookie.' } },
  readSession: {
    description: 'Also tells whether this is a sandbox, and how fast its clock runs.',
    answers: { 200: 'The session; `kind` is null when no one is signed in.' },
  },
  signOut: {
    description:
      'Ends the session: in the process that answers at once, in the others within 2 seconds.',
    answers: { 204: 'Signed out.' },
  },
  issueToken: {
    description:
      'Exchange `clientId` and `clientSecret` for an access token, and send it with every other call as `Authorization: Bearer <token>`. Get a new one before it expires; asking for one per call is slower and counts against the limit.\n\nOAuth libraries send a form instead, with `grant_type=client_credentials` and the credentials in it or as HTTP Basic.',
    answers: { 200: 'An access token, and how many seconds it lasts.' },
  },
  getOauthMetadata: {
    description:
      'For OAuth libraries that discover a server: the address that gives tokens, how a client authenticates there, and the keys of the tokens.',
    answers: { 200: 'The metadata.' },
  },
  listTokenKeys: {
    description: 'For those who verify access tokens themselves, which is optional.',
    answers: { 200: 'The public keys, as a JSON Web Key Set.' },
  },
  listWebhookKeys: {
    description:
      'For receivers that verify `v1a` signatures, and for readers of statements and receipts. The keys are Paybell’s own and replaced by themselves, with 7 days of overlap: when `X-Paybell-Key-Id` names a key that you do not have, ask again.',
    answers: { 200: 'The public keys, as a JSON Web Key Set, and those that sign no more.' },
  },
  registerWebhook: {
    answers: { 200: 'Registered. The body is empty; list the webhooks to see its id.' },
  },
  listWebhooks: {
    description: 'Without anything secret: shared keys are never shown again.',
    answers: { 200: PAGE },
  },
  listAllWebhooks: {
    description:
      'The same page as `/v1/webhooks/list`. Without `AccountId` it has the webhooks of all your accounts, each with its `accountId`.',
    answers: { 200: PAGE },
  },
  getWebhook: {
    description:
      '`health` says whether it works: since when it fails, its last error, how much is pending.',
    answers: { 200: 'The webhook and its health.' },
  },
  changeWebhook: { answers: { 200: 'The webhook as it is now.' } },
  deleteWebhook: { answers: { 204: 'Deleted.' } },
  subscribe: {
    answers: {
      201: 'Subscribed. `Location` is its address; the body shows the shape of a callback.',
    },
  },
  listSubscriptions: {
    description: 'Without anything secret: shared keys and header values are never shown again.',
    answers: { 200: PAGE },
  },
  getSubscription: {
    description:
      '`health` says whether it works: since when it fails, its last error, how much is pending.',
    answers: { 200: 'The subscription and its health.' },
  },
  changeSubscription: { answers: { 200: 'The subscription as it is now.' } },
  deleteSubscription: { answers: { 204: 'Deleted.' } },
  listEvents: { answers: { 200: 'Events, and a cursor to come back with; it is never null.' } },
  getEvent: { answers: { 200: 'The body, byte for byte.' } },
  listDeliveries: { answers: { 200: CURSOR_PAGE } },
  getDeliveryBody: { answers: { 200: 'The body, byte for byte.' } },
  getDelivery: {
    description:
      '`explanation` says in words what happened, what comes next and when. `attemptLog` has every attempt with what your receiver answered.',
    answers: { 200: 'The delivery, its attempts and its explanation.' },
  },
  getOwnPayment: { answers: { 200: 'The payment.' } },
  replayDelivery: { answers: { 202: 'The replay is on disk and under way.' } },
  retryDelivery: { answers: { 202: RETRIED } },
  retryWebhook: { answers: { 202: ALL_RETRIED } },
  retrySubscription: { answers: { 202: ALL_RETRIED } },
  retryListener: { answers: { 202: ALL_RETRIED } },
  recoverWebhook: { answers: { 200: DRY_RUN, 202: RECOVERED } },
  recoverSubscription: { answers: { 200: DRY_RUN, 202: RECOVERED } },
  recoverListener: { answers: { 200: DRY_RUN, 202: RECOVERED } },
  putNotices: { answers: { 200: 'Where notices go from now on.' } },
  getNotices: {
    description: 'The newest 20 notices are shown with the state of their deliveries.',
    answers: { 200: 'The address and its newest notices.' },
  },
  deleteNotices: {
    description: 'What is still on its way is cancelled.',
    answers: { 204: 'Deleted.' },
  },
  replayMissingWebhook: { answers: { 200: DRY_RUN, 202: QUEUED } },
  replayMissingSubscription: { answers: { 200: DRY_RUN, 202: QUEUED } },
  replayMissingListener: { answers: { 200: DRY_RUN, 202: QUEUED } },
  testWebhook: { answers: { 200: TESTED } },
  testSubscription: { answers: { 200: TESTED } },
  testListener: { answers: { 200: TESTED } },
  registerListener: {
    answers: { 200: 'The listener of this name was there already.', 201: 'The new listener.' },
  },
  listListeners: {
    description: 'Without `AccountId` it has the listeners of all your accounts.',
    answers: { 200: PAGE },
  },
  getListener: {
    description: '`health` says how much is pending for it, and what the last attempts came to.',
    answers: { 200: 'The listener and its health.' },
  },
  changeListener: { answers: { 200: 'The listener as it is now.' } },
  deleteListener: { answers: { 204: 'Deleted.' } },
  answerCallback: { answers: { 204: 'Recorded as an attempt.' } },
  getAuditHead: { answers: { 200: 'The newest segment, and the last check of the audit.' } },
  verifyAudit: { answers: { 200: 'What was looked at, and the first thing that is wrong.' } },
  createClient: {
    description:
      'The secret is shown in this answer and never again. Open an account for the client next.',
    answers: { 201: 'The client and its first secret.' },
  },
  listClients: { description: 'Disabled ones too.', answers: { 200: PAGE } },
  getClient: {
    description:
      'With the ids of its secrets and when they were made: never the secrets themselves.',
    answers: { 200: 'The client.' },
  },
  changeClient: { answers: { 200: 'The client as it is now.' } },
  createClientSecret: { answers: { 201: 'The secret, shown this once.' } },
  deleteClientSecret: {
    description:
      'It gets no token any more. Tokens that it got before stay good until they expire.',
    answers: { 204: 'Revoked.' },
  },
  createAccount: {
    description: 'Payments belong to accounts, and webhooks get the payments of one account.',
    answers: { 201: 'The account.' },
  },
  listAccounts: { description: 'All accounts of one client.', answers: { 200: PAGE } },
  createOperatorKey: { answers: { 201: 'The key, shown this once.' } },
  listOperatorKeys: { answers: { 200: PAGE } },
  revokeOperatorKey: { answers: { 204: 'Revoked.' } },
  listAudit: { answers: { 200: CURSOR_PAGE } },
  listSettings: { answers: { 200: 'Every setting; of a secret only whether it is set.' } },
  listPayments: { answers: { 200: CURSOR_PAGE } },
  getPayment: {
    description: 'With its account, its client, its version and the sequence of its last event.',
    answers: { 200: 'The payment; its document without the file.' },
  },
  putPayment: {
    answers: {
      200: 'Recorded. `event` is null when nothing changed; `stale` is true when a newer version is stored.',
      201: 'The first write of this payment, recorded.',
    },
  },
  listPaymentEvents: {
    description: 'Each event with its deliveries: which endpoint it went to, and how that ended.',
    answers: { 200: CURSOR_PAGE },
  },
  erasePayment: { answers: { 200: 'What was erased.' } },
  listAllDeliveries: { answers: { 200: CURSOR_PAGE } },
  getAnyDelivery: {
    answers: { 200: 'The delivery, with its request, its signatures and what was answered.' },
  },
  getEventBody: { answers: { 200: 'The body, byte for byte.' } },
  getAnyDeliveryBody: { answers: { 200: 'The body, byte for byte.' } },
  listEndpoints: { answers: { 200: PAGE } },
  getEndpoint: {
    description: 'Of any client. `health.pending` is exact here.',
    answers: { 200: 'The endpoint, its health and its last 24 hours.' },
  },
  changeEndpoint: { answers: { 200: 'The endpoint as it is now.' } },
  operatorReplayDelivery: { answers: { 202: 'The replay is on disk and under way.' } },
  operatorRetryDelivery: { answers: { 202: RETRIED } },
  operatorRetryEndpoint: { answers: { 202: ALL_RETRIED } },
  retryDeliveries: {
    answers: { 200: DRY_RUN, 202: 'How many are retried. `Location` names the job.' },
  },
  cancelDelivery: { answers: { 200: 'The delivery as it is now.' } },
  replayDeliveries: { answers: { 200: DRY_RUN } },
  cancelDeliveries: {
    answers: { 200: DRY_RUN, 202: 'How many are cancelled. `Location` names the job.' },
  },
  getJob: { answers: { 200: 'How far the job is.' } },
  getStats: {
    description:
      'Counts of deliveries, what is pending and when it is due, a series of attempts, endpoints that fail, and the processes. Made for the console; read `/metrics` for alerts.',
    answers: { 200: 'The numbers of the period.' },
  },
}

interface Described {
  operationId?: string
  description?: string
  responses?: Record<string, { description?: string }>
}

/** Adds the texts to a document, in place: where a schema describes its shape, the answer says what it means. */
export function addOperationTexts(paths: Record<string, Record<string, unknown>>): void {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const described = operation as Described
    const texts = OPERATION_TEXTS[described.operationId ?? '']
    if (texts === undefined) continue
    if (texts.description !== undefined) described.description ??= texts.description
    for (const [status, text] of Object.entries(texts.answers ?? {})) {
      const answer = described.responses?.[status]
      if (answer !== undefined) answer.description = text
    }
  }
}

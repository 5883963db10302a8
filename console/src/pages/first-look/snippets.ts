// Programs to paste that get a token, register a webhook and send it a test. They hold the client's own ids and
// a new key; only the secret, which the console does not know, is read from the environment.

export interface SnippetFacts {
  /** Of the API. */
  url: string
  clientId: string
  accountId: string
  callbackUrl: string
  sharedKey: string
}

export const LANGUAGES = [
  ['curl', 'curl'],
  ['node', 'Node'],
  ['python', 'Python'],
] as const

export type Language = (typeof LANGUAGES)[number][0]

export function toSnippet(language: Language, facts: SnippetFacts): string {
  return SNIPPETS[language](facts)
}

/** How a shell gets a token; the two lines before the call itself say whose. */
export function toTokenCommand({ url, clientId }: Pick<SnippetFacts, 'url' | 'clientId'>): string {
  return `PAYBELL_URL=${url}
PAYBELL_CLIENT_ID=${clientId}
TOKEN=$(curl -s "$PAYBELL_URL/auth/token" -H 'Content-Type: application/json' \\
  -d "{\\"clientId\\": \\"$PAYBELL_CLIENT_ID\\", \\"clientSecret\\": \\"$PAYBELL_CLIENT_SECRET\\"}" \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`
}

const SNIPPETS: Readonly<Record<Language, (facts: SnippetFacts) => string>> = {
  curl: (facts) => `${toTokenCommand(facts)}
PAYBELL_ACCOUNT_ID=${facts.accountId}

# 1. Register. Your receiver checks signatures with this key.
curl -s "$PAYBELL_URL/v1/webhooks/register" \\
  -H "Authorization: Bearer $TOKEN" -H "AccountId: $PAYBELL_ACCOUNT_ID" -H 'Content-Type: application/json' \\
  -d '{"callbackUrl": "${facts.callbackUrl}",
       "sharedKey": "${facts.sharedKey}"}'

# 2. Send a test.
WEBHOOK_ID=$(curl -s "$PAYBELL_URL/v1/webhooks/list" \\
  -H "Authorization: Bearer $TOKEN" -H "AccountId: $PAYBELL_ACCOUNT_ID" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl -s -X POST "$PAYBELL_URL/v1/webhooks/$WEBHOOK_ID/test" -H "Authorization: Bearer $TOKEN"`,

  node: (facts) => `// first-callback.mjs, for Node 18 or newer: node first-callback.mjs
const url = '${facts.url}'
const accountId = '${facts.accountId}'
const callbackUrl = '${facts.callbackUrl}'
// Your receiver checks signatures with this key.
const sharedKey = '${facts.sharedKey}'

async function call(method, path, token, body) {
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(token && { authorization: \`Bearer \${token}\`, accountid: accountId }),
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(\`\${answer.status} \${text}\`)
  return text && JSON.parse(text)
}

const { access_token: token } = await call('POST', '/auth/token', null, {
  clientId: '${facts.clientId}',
  clientSecret: process.env.PAYBELL_CLIENT_SECRET,
})
await call('POST', '/v1/webhooks/register', token, { callbackUrl, sharedKey })
const { content } = await call('GET', '/v1/webhooks/list', token)
const webhook = content.find(({ endpointUrl }) => endpointUrl === callbackUrl)
console.log(await call('POST', \`/v1/webhooks/\${webhook.id}/test\`, token))`,

  python: (facts) => `# first_callback.py, for Python 3: python3 first_callback.py
import json, os, urllib.request

URL = "${facts.url}"
ACCOUNT_ID = "${facts.accountId}"
CALLBACK_URL = "${facts.callbackUrl}"
# Your receiver checks signatures with this key.
SHARED_KEY = "${facts.sharedKey}"

def call(method, path, token=None, body=None):
    request = urllib.request.Request(URL + path, method=method)
    if token:
        request.add_header("Authorization", "Bearer " + token)
        request.add_header("AccountId", ACCOUNT_ID)
    if body:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None

token = call("POST", "/auth/token", body={
    "clientId": "${facts.clientId}",
    "clientSecret": os.environ["PAYBELL_CLIENT_SECRET"],
})["access_token"]
call("POST", "/v1/webhooks/register", token, {"callbackUrl": CALLBACK_URL, "sharedKey": SHARED_KEY})
webhooks = call("GET", "/v1/webhooks/list", token)["content"]
webhook = next(one for one in webhooks if one["endpointUrl"] == CALLBACK_URL)
print(call("POST", "/v1/webhooks/" + webhook["id"] + "/test", token))`,
}

// /guides: the files of docs/ as pages, who is served which of them, and that every link leads somewhere.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { assertProblem, serveHttp } from '../../../../test/support/injected-server.ts'
import { PROBLEMS } from '../../basics/problems.ts'
import { readGuideGroups } from '../../pages/guide-list.ts'
import { renderMarkdown } from '../../pages/markdown.ts'

const { pool } = await cloneDatabase()
const DOCS = new URL('../../../../docs/', import.meta.url)
const guides = readGuideGroups().flatMap(({ audience, guides }) =>
  guides.map((guide) => ({ ...guide, audience })),
)

test('every file of docs/ is a guide of docs/README.md, and some are for operators alone', () => {
  const files = readdirSync(DOCS).filter((name) => name.endsWith('.md') && name !== 'README.md')
  const names = guides.map(({ name }) => name).filter((name) => name !== 'sdk')
  assert.deepEqual(names.map((name) => `${name}.md`).sort(), files.sort())
  const forOperators = guides.filter(({ audience }) => audience === 'operator')
  assert.ok(forOperators.length > 5 && forOperators.length < names.length / 2)
})

test('every guide is a page whose links lead to pages and sections that exist', async (t) => {
  const { app } = await serveHttp(t, pool)
  const pages = new Map<string, string>()
  for (const { name } of guides) {
    const answer = await app.inject(`/guides/${name}`)
    assert.equal(answer.statusCode, 200, name)
    pages.set(`/guides/${name}`, answer.body)
  }
  pages.set('/guides/', (await app.inject('/guides/')).body)
  for (const [path, html] of pages) {
    assert.match(html, /<nav class="side" aria-label="Guides">/, path)
    // Markdown that was not understood would stand there as it was written.
    assert.doesNotMatch(
      html.replaceAll(/<(pre|code)[^>]*>.*?<\/\1>/gs, ''),
      /\]\(|\*\*|^#+ |^\| /m,
      path,
    )
    for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const [target, anchor] = (href as string).split('#', 2) as [string, string?]
      if (/^https:|^\/(docs|problems|console)/.test(target)) continue
      const page = pages.get(target === '' ? path : target)
      assert.ok(page !== undefined, `${path} leads to ${href}`)
      if (anchor) assert.ok(page.includes(` id="${anchor}"`), `${path} leads to ${href}`)
    }
    for (const [, image] of html.matchAll(/<img src="\/guides\/images\/([^"]+)"/g)) {
      assert.ok(existsSync(new URL(`console/${image}`, DOCS)), image)
    }
  }
})

test('a page has no script, loads nothing from elsewhere, and can be cached', async (t) => {
  const { app } = await serveHttp(t, pool)
  const answer = await app.inject('/guides/delivery')
  const policy = String(answer.headers['content-security-policy'])
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; /)
  assert.doesNotMatch(answer.body, /<script|<link|<iframe|src="http/)
  assert.match(answer.body, /prefers-color-scheme:dark/)
  assert.equal(answer.headers['cache-control'], 'public, max-age=300')
  const etag = String(answer.headers.etag)
  const again = await app.inject({ url: '/guides/delivery', headers: { 'if-none-match': etag } })
  assert.equal(again.statusCode, 304)
  const zipped = await app.inject({
    url: '/guides/delivery',
    headers: { 'accept-encoding': 'gzip' },
  })
  assert.equal(gunzipSync(zipped.rawPayload).toString(), answer.body)
  const image = await app.inject('/guides/images/overview.png')
  assert.equal(image.headers['content-type'], 'image/png')
})

test('with a port for the operator, the public one serves what clients need and no more', async (t) => {
  const { app } = await serveHttp(t, pool, { surface: 'public' })
  for (const { name, audience } of guides) {
    const answer = await app.inject(`/guides/${name}`)
    assert.equal(answer.statusCode, audience === 'everyone' ? 200 : 404, name)
    // A link to a guide that is not served here would lead nowhere.
    if (audience === 'everyone') assert.doesNotMatch(answer.body, /href="\/guides\/operat/, name)
  }
  const operator = await serveHttp(t, pool, { surface: 'operator' })
  assert.equal((await operator.app.inject('/guides/operations')).statusCode, 200)
})

test('a name that is no guide is a 404, whatever it tries', async (t) => {
  const { app } = await serveHttp(t, pool)
  for (const name of ['README', '..%2F..%2Fpackage', 'images', 'constructor']) {
    assertProblem(await app.inject(`/guides/${name}`), 404, 'not-found')
  }
  for (const name of ['..%2F..%2F..%2Fpackage.json', 'nothing.png', 'OVERVIEW.PNG']) {
    assertProblem(await app.inject(`/guides/images/${name}`), 404, 'not-found')
  }
  const redirect = await app.inject('/guides')
  assert.deepEqual([redirect.statusCode, redirect.headers.location], [302, '/guides/'])
})

test('a browser gets a page that leads on where there is no such guide or problem', async (t) => {
  const { app } = await serveHttp(t, pool)
  for (const [url, all] of [
    ['/guides/nothing', '/guides/'],
    ['/problems/nothing', '/problems'],
  ] as const) {
    const answer = await app.inject({ url, headers: { accept: 'text/html,*/*;q=0.8' } })
    assert.equal(answer.statusCode, 404)
    assert.match(String(answer.headers['content-type']), /^text\/html/)
    assert.ok(answer.body.includes(`<a href="${all}">All `), url)
  }
  const slash = await app.inject('/problems/')
  assert.deepEqual([slash.statusCode, slash.headers.location], [302, '/problems'])
})

test('a link between guides is called by the guide and not by its file', async (t) => {
  const { app } = await serveHttp(t, pool)
  const { body } = await app.inject('/guides/first-hour')
  assert.ok(body.includes('<a href="/guides/signatures">Signatures</a>'))
  assert.doesNotMatch(body, />[\w-]+\.md</)
})

test('guides, reference, problems and console lead to each other', async (t) => {
  const { app } = await serveHttp(t, pool)
  for (const url of ['/guides/', '/guides/api', '/problems', '/problems/internal']) {
    const { body } = await app.inject(url)
    for (const to of ['/guides/', '/docs/', '/problems', '/console']) {
      assert.ok(body.includes(`href="${to}"`), `${url} leads to ${to}`)
    }
  }
  for (const code of Object.keys(PROBLEMS)) {
    const { body } = await app.inject(`/problems/${code}`)
    assert.ok(body.includes(`href="/guides/problems#${code}"`), code)
  }
  const { info } = (await app.inject('/openapi.json')).json()
  for (const to of ['/guides/', '/problems', '/console'])
    assert.ok(info.description.includes(`](${to})`))
})

test('what is not markup stays text', () => {
  const links = { toHref: (target: string) => target, toImage: () => null }
  const html = (text: string) => renderMarkdown(text, links).replaceAll(/(?<=>)\n|\n(?=<)/g, '')
  assert.equal(html('<b>&</b>'), '<p>&lt;b&gt;&amp;&lt;/b&gt;</p>')
  for (const text of ['<script>x</script>', '<pre><b>', '<!-- x -->', 'a <a href=b>c</a>']) {
    assert.equal(html(text), `<p>${text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</p>`)
  }
  assert.equal(html('<https://a.b> https://a.b'), '<p>&lt;https://a.b&gt; https://a.b</p>')
  assert.equal(
    html('`<x>` [`a|b`](c.md) **d** *e*'),
    '<p><code>&lt;x&gt;</code> <a href="c.md"><code>a|b</code></a> <strong>d</strong> <em>e</em></p>',
  )
  assert.equal(html('[x]("onclick=)'), '<p><a href="&quot;onclick=">x</a></p>')
  assert.equal(html('![x"y](z.png)'), '<p>x&quot;y</p>')
  assert.equal(
    html('- a\n  b\n- [ ] c\n  ```sh\n  d\n  ```'),
    '<ul><li>a\nb</li><li>☐ c<pre tabindex="0"><code>d</code></pre></li></ul>',
  )
  assert.equal(
    html('| a | b |\n|---|---|\n| c\\|d | e |'),
    '<div class="wide" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>c|d</td><td>e</td></tr></tbody></table></div>',
  )
  assert.match(
    html('## `A` b?'),
    /^<h2 id="a-b"><code>A<\/code> b\? <a class="anchor" href="#a-b" /,
  )
})

// What an edit finds is what the code says, however it is written; it finds it once, in the place that is named, or is
// refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addImport,
  drop,
  type Edit,
  forceFalse,
  forceTrue,
  replace,
  replaceSql,
  setArgument,
} from './mutant-edits.ts'
import { editText } from './mutated-files.ts'

/** What is left of a function with this body; lines are joined. */
function edit(body: string, edit: Edit): string {
  const text = editText(`async function run() {\n${body}\n}\nrun()`, 'run', edit, () => './it.ts')
  const [, left = ''] = /^async function run\(\) \{\s*([\s\S]*)\}\s*run\(\)$/.exec(text) ?? []
  return left.replace(/\s+/g, ' ').trim()
}

test('white space, line breaks, comments, quotes and parentheses do not matter', () => {
  const body = 'lane.begin(\n  // the first\n  (ms  +  1_000),\n  "one",\n);'
  assert.equal(edit(body, replace("lane.begin(ms + 1000, 'one')", 'go()')), 'go();')
})

test('an edit that fits twice is refused, and one that fits nowhere', () => {
  assert.throws(() => edit('a(1); a(1)', replace('a(1)', 'b')), /2 matches of a\(1\)/)
  assert.throws(() => edit('a(1)', replace('a(2)', 'b')), /0 matches of a\(2\)/)
  assert.throws(() => edit('a(1); a(2)', setArgument(1, 'a', '3')), /2 matches of a call of a/)
  assert.throws(() => edit('if (x || x) a()', forceTrue('x')), /2 matches of x/)
})

test('nothing is found outside the place', () => {
  const text = 'function one() { a() }\nfunction two() { a() }\n'
  const after = editText(text, 'two', replace('a', 'b'), () => '')
  assert.equal(after, 'function one() { a() }\nfunction two() { b() }\n')
})

test('the rest of the file stays as it is', () => {
  const text = '/* 1 */ const A = {a :1,\n\n  b:2 } // 3\n'
  assert.equal(
    editText(text, 'A', replace('2', '4'), () => ''),
    text.replace('2', '4'),
  )
})

test('a pattern may leave parts out, and what it captures can be put in again', () => {
  assert.equal(edit('f(a, b.c(d), e)', replace('f(_, _1, __2)', 'g(__2, _1)')), 'g(e, b.c(d))')
  assert.equal(edit('f(a)', replace('f(a, __1)', 'g(__1)')), 'g()')
  assert.equal(edit('if (a) { b() }', replace('if (a) _1', '_1')), '{ b() }')
  assert.equal(edit('f(a, b); f(c, c)', replace('f(_1, _1)', 'g')), 'f(a, b); g')
  assert.throws(() => edit('f(a)', replace('f(_)', 'g(_1)')), /captures no _1/)
})

test('types may be left out of a pattern', () => {
  assert.equal(edit('const a: Set<A> = new Set<A>()', replace('const a = new Set()', 'b')), 'b')
})

test('what is put in keeps together', () => {
  assert.equal(edit('return a * b', replace('a', 'c + d')), 'return (c + d) * b')
  assert.equal(edit('return a(c + d)', replace('a(_1)', '_1 * 2')), 'return ((c + d) * 2)')
  assert.equal(edit('if (a) b()', replace('b()', 'c(); d()')), 'if (a) { c(); d() }')
  assert.throws(() => edit('a(b())', replace('b()', 'c(); d()')), /no statement can stand/)
})

test('a name is found wherever it is one, private or not', () => {
  assert.equal(edit('this.a.give(b)', replace('give', 'take')), 'this.a.take(b)')
  assert.equal(edit('this.#give(b)', replace('#give', '#take')), 'this.#take(b)')
})

test('a statement or an element is dropped with what it has in it', () => {
  assert.equal(edit('a()\nawait this.#b(1)\nc()', drop('#b')), 'a() c()')
  assert.equal(edit('if (a) b()\nelse c()', drop('b')), 'if (a) {} else c()')
  assert.equal(edit('all([a(), b(), c()])', drop('b()')), 'all([a(), c()])')
  assert.equal(edit('all([a(), b()])', drop('b()')), 'all([a()])')
})

test('what stands in a function without statements is not dropped with the call around it', () => {
  assert.throws(() => edit('all.map((one) => b(one))', drop('b')), /0 matches of b/)
})

test('the nearest condition around a name is forced', () => {
  assert.equal(edit('if (a && !b.has(c)) d()', forceFalse('has')), 'if (a && false) d()')
  assert.equal(edit('if (a.is) b()', forceTrue('is')), 'if (true) b()')
  assert.equal(edit('return a > b', forceTrue('a > _')), 'return true')
  assert.equal(edit('c(all.filter((a) => b(a)))', forceFalse('b')), 'c(all.filter((a) => false))')
  assert.throws(() => edit('a(b)', forceTrue('b')), /0 matches of b/)
})

test('an argument is found by its number, and may become something with it', () => {
  assert.equal(
    edit('this.a.b(c, d + e)', setArgument(2, 'b', '_1 / 5')),
    'this.a.b(c, ((d + e) / 5))',
  )
  assert.equal(edit('this.#b(c)', setArgument(1, '#b', 'd')), 'this.#b(d)')
  assert.throws(() => edit('b(c)', setArgument(2, 'b', 'd')), /b has no argument 2/)
})

test('SQL is found by its tokens, in templates and in quotes, without its comments', () => {
  const body = `query(\`select a\n  from b -- where c=1\n where  c=$1 and \${d} e\`, 'limit 1')`
  assert.match(edit(body, replaceSql('where c = $1', 'where true')), /c=1 where true and/)
  assert.match(edit(body, replaceSql('limit', 'offset')), /'offset 1'/)
  assert.throws(() => edit(body, replaceSql('and e', 'or e')), /0 matches of and e/)
  assert.throws(() => edit(body, replaceSql('query', '')), /0 matches of query/)
})

test('an import comes before the others, after what the file says of itself', () => {
  const text = "// A file.\n\nimport { a } from './a.ts'\n\nfunction run() {}\n"
  const after = editText(text, 'run', addImport('b'), (name) => `../c/${name}.ts`)
  assert.equal(after, text.replace('import', "import { b } from '../c/b.ts'\nimport"))
})

test('what is no code is refused', () => {
  assert.throws(() => edit('a()', replace('a(', 'b')), /neither an expression nor statements/)
  assert.throws(() => edit('a()', replace('a(); b()', 'c')), /one expression or one statement/)
})

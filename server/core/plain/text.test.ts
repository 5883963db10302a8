import assert from 'node:assert/strict'
import { test } from 'node:test'
import { characterCount, hasControlCharacter, isStorableText } from './text.ts'

test('P5: NUL and a lone surrogate cannot be stored, everything else can', () => {
  for (const text of ['a\0b', '\ud800', 'a\udc00', '\udc00\ud800']) {
    assert.equal(isStorableText(text), false, JSON.stringify(text))
  }
  for (const text of ['', 'a', 'é', '😀', 'a\nb', '\u{10ffff}', '\uffff']) {
    assert.equal(isStorableText(text), true, JSON.stringify(text))
  }
})

test('control characters are C0, DEL and C1', () => {
  for (const code of [0x00, 0x09, 0x0a, 0x0d, 0x1f, 0x7f, 0x80, 0x85, 0x9f]) {
    assert.equal(hasControlCharacter(`a${String.fromCharCode(code)}b`), true, `${code}`)
  }
  for (const text of ['', ' ', 'é', '\u00a0', '\u2028', '😀']) {
    assert.equal(hasControlCharacter(text), false, JSON.stringify(text))
  }
})

test('characters are code points: an emoji is one', () => {
  assert.equal(characterCount(''), 0)
  assert.equal(characterCount('aé'), 2)
  assert.equal(characterCount('😀😀'), 2)
})

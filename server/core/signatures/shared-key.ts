// What may be a `sharedKey` (decisions, Webhooks §8). The key signs as its UTF-8 bytes, untrimmed and
// unnormalised, so spaces at the ends are part of it; only what cannot be typed twice alike is refused.

import { characterCount, hasControlCharacter, isStorableText } from '../plain/text.ts'

export const SHARED_KEY_CHARACTERS_MAX = 256

/** Null when the key may be used. The detail never repeats the key. */
export function checkSharedKey(
  text: string,
  charactersMin: number,
): { code: string; detail: string } | null {
  if (text.trim() === '') {
    return { code: 'blank', detail: 'Give a key that is more than white space.' }
  }
  if (hasControlCharacter(text)) {
    return { code: 'control-character', detail: 'Remove control characters from the key.' }
  }
  if (!isStorableText(text)) {
    return { code: 'invalid-text', detail: 'Remove the unpaired surrogate from the key.' }
  }
  // A text of n units has at most n and at least n / 2 characters: the long ones need no counting.
  if (
    text.length > 2 * SHARED_KEY_CHARACTERS_MAX ||
    characterCount(text) > SHARED_KEY_CHARACTERS_MAX
  ) {
    return {
      code: 'too-long',
      detail: `Give a key of at most ${SHARED_KEY_CHARACTERS_MAX} characters.`,
    }
  }
  if (characterCount(text) < charactersMin) {
    return { code: 'too-short', detail: `Give a key of at least ${charactersMin} characters.` }
  }
  return null
}

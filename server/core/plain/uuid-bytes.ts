// A uuid's text and its 16 bytes. Several ids are made and written for every delivery: by tables and into one buffer,
// because pieces of text that are joined take five times the memory, and longer.

const HEX = Buffer.from('0123456789abcdef')
/** The value of a digit by its character's code; negative for all that are none. */
const DIGITS = new Int8Array(128).fill(-1)
for (const digit of '0123456789abcdefABCDEF') {
  DIGITS[digit.charCodeAt(0)] = Number.parseInt(digit, 16)
}
/** Where in the text each byte stands, and what is between them. */
const PLACES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34)
const HYPHENS = Uint8Array.of(8, 13, 18, 23)
const HYPHEN = 0x2d
const UUID_CHARACTERS = 36

/** Negative where there is no digit. */
function hexDigitAt(text: string, index: number): number {
  return DIGITS[text.charCodeAt(index)] ?? -1
}

/** Throws where the text is no uuid: checked as it is written, to match the pattern first would take as long again. */
export function writeUuid(to: Uint8Array, text: string, at: number): void {
  let isUuid = text.length === UUID_CHARACTERS
  for (let index = 0; index < HYPHENS.length; index++) {
    isUuid &&= text.charCodeAt(HYPHENS[index] as number) === HYPHEN
  }
  for (let index = 0; index < PLACES.length; index++) {
    const place = PLACES[index] as number
    const byte = (hexDigitAt(text, place) << 4) | hexDigitAt(text, place + 1)
    isUuid &&= byte >= 0
    to[at + index] = byte
  }
  if (!isUuid) throw new TypeError('what was given as a uuid is none')
}

const written = Buffer.alloc(UUID_CHARACTERS, HYPHEN)

export function toUuidText(bytes: Uint8Array): string {
  for (let index = 0; index < PLACES.length; index++) {
    const place = PLACES[index] as number
    const byte = bytes[index] as number
    written[place] = HEX[byte >> 4] as number
    written[place + 1] = HEX[byte & 15] as number
  }
  return written.toString('latin1')
}

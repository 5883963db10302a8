// The subject of a certificate request as people write it: `CN=paybell.example, O=Example Ltd, C=BR`. A comma within
// a value is written `\,`.

import { der, objectId, sequence, set } from './der.ts'

const SUBJECT_CHARACTERS_MAX = 500
const VALUE_CHARACTERS_MAX = 64

/** With the tag of its text: a country is PrintableString, as RFC 5280 has it; all else is UTF-8. */
const ATTRIBUTES: Readonly<Record<string, { id: string; tag: number }>> = {
  CN: { id: '2.5.4.3', tag: 0x0c },
  C: { id: '2.5.4.6', tag: 0x13 },
  L: { id: '2.5.4.7', tag: 0x0c },
  ST: { id: '2.5.4.8', tag: 0x0c },
  O: { id: '2.5.4.10', tag: 0x0c },
  OU: { id: '2.5.4.11', tag: 0x0c },
  SERIALNUMBER: { id: '2.5.4.5', tag: 0x13 },
}

export type Subject = readonly { name: string; value: string }[]

/** What is wrong with it, as a sentence, or its parts in the order given. */
export function readSubject(text: string): Subject | { refused: string } {
  if (text.length > SUBJECT_CHARACTERS_MAX) {
    return { refused: `Give a subject of at most ${SUBJECT_CHARACTERS_MAX} characters.` }
  }
  const parts = text.split(/(?<!\\),/).map((part) => {
    const [name = '', ...value] = part.split('=')
    return {
      name: name.trim().toUpperCase(),
      value: value.join('=').trim().replaceAll('\\,', ','),
    }
  })
  for (const part of parts) {
    const refused = refusalOf(part)
    if (refused !== null) return { refused }
  }
  if (!parts.some(({ name }) => name === 'CN')) {
    return { refused: 'Name the common name, such as CN=paybell.example, O=Example Ltd, C=BR.' }
  }
  return parts
}

function refusalOf({ name, value }: Subject[number]): string | null {
  if (!Object.hasOwn(ATTRIBUTES, name)) {
    return `Write the subject as CN=paybell.example, O=Example Ltd, C=BR, with any of ${Object.keys(ATTRIBUTES).join(', ')}.`
  }
  if (value === '' || value.length > VALUE_CHARACTERS_MAX) {
    return `Give ${name} 1 to ${VALUE_CHARACTERS_MAX} characters.`
  }
  if (/\p{Cc}/u.test(value)) return `Give ${name} no control characters.`
  if (name === 'C' && !/^[A-Z]{2}$/.test(value))
    return 'Give C the two capital letters of a country.'
  if (name === 'SERIALNUMBER' && !/^[A-Za-z0-9 '()+,./:=?-]+$/.test(value)) {
    return "Give serialNumber letters, digits, spaces and ' ( ) + , - . / : = ? alone."
  }
  return null
}

export function encodeSubject(subject: Subject): Buffer {
  return sequence(
    ...subject.map(({ name, value }) => {
      const { id, tag } = ATTRIBUTES[name] as (typeof ATTRIBUTES)[string]
      return set(sequence(objectId(id), der(tag, Buffer.from(value))))
    }),
  )
}

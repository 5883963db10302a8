// The sentence above a list of wrong fields: how many, and of what. Each field says for itself what is wrong with it.

export function countInvalid(count: number, one: string, of = ''): string {
  return count === 1 ? `One ${one}${of} is invalid.` : `${count} ${one}s${of} are invalid.`
}

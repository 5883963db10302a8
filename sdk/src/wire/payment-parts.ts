// The two parts of a payment that the SDK types by hand, because it makes more of them than the wire says.

/** On the wire the amount is a JSON number; here it is its exact text, because a binary float would lose digits silently. */
export interface Money {
  /** The exact decimal as it was written, such as `'1250.00'`. See `toMinorUnits`. */
  amount: string
  /** Three capital letters. */
  currency: string
}

export interface PaymentDocument {
  mediaType: string
  name: string
  /** In callbacks, unless the endpoint asks for a link or for none; answers of the interface leave it out. */
  base64EncodedFile?: string
  /** In its place, where the endpoint's `document` is `link`: fetches the file, without a token. */
  url?: string
}
